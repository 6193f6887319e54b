#include "mpi_helpers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "transport_helpers.hpp"

namespace trimtab::parcels {

namespace {

std::vector<char*> c_words(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Until all writers have closed it. False: it took too long.
bool read_all(int file, std::string& output) {
  const std::uint64_t end_ns = base::monotonic_ns() + 3 * long_enough_ns;
  char bytes[4096];
  while (base::monotonic_ns() < end_ns) {
    pollfd ready{file, POLLIN, 0};
    if (poll(&ready, 1, 1000) <= 0) continue;
    const ssize_t count = read(file, bytes, sizeof bytes);
    if (count <= 0) return true;
    output.append(bytes, static_cast<std::size_t>(count));
  }
  return false;
}

std::string this_program() {
  char path[4096] = {};
  return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

std::vector<std::string> program_words(const std::string& filter) {
  return {this_program(), "--gtest_brief=1", "--gtest_also_run_disabled_tests", "--gtest_filter=" + filter};
}

}  // namespace

namespace {

// The MPI libraries and what they load are not instrumented, leak some blocks, and take locks in several orders.
constexpr std::pair<std::string_view, std::string_view> sanitizer_options[] = {
    {"TSAN_OPTIONS=", "ignore_noninstrumented_modules=1:detect_deadlocks=0"}, {"ASAN_OPTIONS=", "detect_leaks=0"}};

std::vector<std::string> environment_of_children() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("GTEST_")) environment.emplace_back(*variable);
  for (const auto& [name, value] : sanitizer_options) {
    const auto known = std::ranges::find_if(environment, [&](const auto& text) { return text.starts_with(name); });
    if (known != environment.end())
      known->append(":").append(value);
    else
      environment.push_back(std::string(name) + std::string(value));
  }
#if defined(__SANITIZE_THREAD__)
  // UCX would use a lock at the end of a thread, when the sanitizer does not know the thread any more.
  environment.emplace_back("UCX_MEM_MMAP_HOOK_MODE=none");
  // The sanitizer takes the addresses that process_vm_readv reads in another process for addresses of this one.
  environment.emplace_back("UCX_TLS=^cma");
#endif
  // Open MPI's mpirun does not work for root without them.
  environment.insert(environment.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  return environment;
}

}  // namespace

child_result run_command(const std::vector<std::string>& words) {
  child_result result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  std::vector<std::string> copies = words, environment = environment_of_children();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  pid_t process = 0;
  result.has_started =
      posix_spawnp(&process, copies[0].c_str(), &actions, nullptr, c_words(copies).data(), c_words(environment).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (result.has_started && !read_all(ends[0], result.output)) kill(process, SIGTERM);
  close(ends[0]);
  int status = 0;
  if (result.has_started && waitpid(process, &status, 0) == process && WIFEXITED(status))
    result.status = WEXITSTATUS(status);
  return result;
}

std::vector<mpirun> installed_mpiruns() {
  std::vector<mpirun> result;
  std::vector<std::string> versions;
  for (const char* const name : {"mpirun", "mpirun.openmpi", "mpirun.mpich"}) {
    const child_result answer = run_command({name, "--version"});
    if (!answer.has_started || answer.status != 0 || std::ranges::count(versions, answer.output) != 0) continue;
    versions.push_back(answer.output);
    const bool is_open_mpi = answer.output.find("Open MPI") != std::string::npos;
    const bool is_hydra = answer.output.find("HYDRA") != std::string::npos;
    if (is_open_mpi || is_hydra) result.push_back({name, is_open_mpi ? mpi_launcher::open_mpi : mpi_launcher::mpich});
  }
  return result;
}

child_result run_ranks(const mpirun& launcher, std::uint32_t ranks, const std::string& filter) {
  std::vector<std::string> words{launcher.command, "-n", std::to_string(ranks)};
  if (launcher.family == mpi_launcher::open_mpi) words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  for (std::string& word : program_words(filter)) words.push_back(std::move(word));
  return run_command(words);
}

child_result run_alone(const std::string& filter) { return run_command(program_words(filter)); }

rank_surroundings look_around() {
  const auto number_in = [](const char* text) { return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)); };
  if (const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE")) return {mpi_launcher::open_mpi, number_in(size)};
  if (const char* const size = std::getenv("PMI_SIZE")) return {mpi_launcher::mpich, number_in(size)};
  return {};
}

std::string wanted_library() {
  const char* const path = std::getenv("TRIMTAB_TEST_MPI_LIBRARY");
  return path == nullptr ? "" : path;
}

}  // namespace trimtab::parcels

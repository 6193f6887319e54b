// A process in the run's list of processes: what its page says, and when it moves into a folder of its own.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "scratch_run.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe::testing {
namespace {

constexpr std::size_t names_begin = sizeof(file_header) + sizeof(process_header);

// A recorder's pages stay mapped to files, so all recorders live until the process ends (a pointer that leads to them is
// kept, otherwise LeakSanitizer calls them lost).
recorder& listed_recorder(const scratch_run& run) {
  static auto* const recorders = new std::deque<recorder>;
  auto* const fresh = &recorders->emplace_back();
  recorder_options options;
  options.run_directory = run.path().c_str();
  options.is_listed = true;
  EXPECT_EQ(fresh->open(options), 0);
  return *fresh;
}

std::string list_of(const scratch_run& run) { return run.path() + "/" + file_host_name().text + ".processes"; }

std::size_t folders_in(const scratch_run& run) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run.path())) count += entry.is_directory() ? 1 : 0;
  return count;
}

std::string names_in(const std::vector<char>& page) {
  return {page.data() + names_begin, page.data() + names_begin + header_of(page).written};
}

TEST(listed_process, has_a_page_and_no_folder) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  const auto page = bytes_of(list_of(run));
  ASSERT_EQ(page.size(), header_bytes);
  EXPECT_EQ(std::memcmp(header_of(page).magic, file_magic, sizeof file_magic), 0);
  EXPECT_EQ(header_of(page).kind, file_kind::process);
  const auto self = second_header_of<process_header>(page);
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(self.state, process_state::running);
  EXPECT_NE(names_in(page).find("cpus"), std::string::npos);
  EXPECT_EQ(folders_in(run), 0u);
  EXPECT_TRUE(listed.is_on());
}

TEST(listed_process, says_in_its_page_how_it_ended_and_what_was_counted) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  listed.sample(listed.add_counter("page faults", "1", "test", true), no_lane, 42.5, 1000);
  EXPECT_EQ(names_in(bytes_of(list_of(run))).find("page faults"), std::string::npos) << "written at the end only";
  listed.close(process_state::replaced);
  const auto page = bytes_of(list_of(run));
  EXPECT_EQ(second_header_of<process_header>(page).state, process_state::replaced);
  EXPECT_NE(second_header_of<process_header>(page).end_ticks, 0u);
  EXPECT_NE(names_in(page).find("page faults"), std::string::npos);
  name_sample last{};
  const std::string names = names_in(page);
  std::memcpy(&last, names.data() + names.size() - sizeof last, sizeof last);
  EXPECT_EQ(last.head.tag, name_tag::sample);
  EXPECT_EQ(last.value, 42.5);
  EXPECT_EQ(last.ticks, 1000u);
  listed.reopen();
  EXPECT_EQ(second_header_of<process_header>(bytes_of(list_of(run))).state, process_state::running);
  EXPECT_EQ(folders_in(run), 0u);
}

TEST(listed_process, a_short_one_has_not_read_its_limits_and_a_longer_one_has) {
  const scratch_run run, other;
  const auto limits_at_end = [](const scratch_run& of, std::uint64_t life_ns) {
    recorder& listed = listed_recorder(of);
    EXPECT_EQ(listed.process().cpus_online, 0u);
    EXPECT_EQ(listed.process().cpus_available, base::allowed_cpus().count());
    for (const std::uint64_t begin = base::monotonic_ns(); base::monotonic_ns() < begin + life_ns;) sched_yield();
    const bool is_short = listed.is_short(base::now());
    listed.close(process_state::exited);
    const auto self = second_header_of<process_header>(bytes_of(list_of(of)));
    if (self.cpus_online == 0) {
      EXPECT_TRUE(is_short);
      return false;
    }
    EXPECT_EQ(self.cpus_online, base::read_cpu_limits().online);
    EXPECT_EQ(self.cpus_available, base::read_cpu_limits().available);
    return true;
  };
  EXPECT_TRUE(limits_at_end(run, static_cast<std::uint64_t>(recorder::short_life_ns) + 5'000'000));
  limits_at_end(other, 0);
}

TEST(listed_process, moves_into_a_folder_with_its_first_lane) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  listed.fact("before", "the folder");
  ASSERT_NE(listed.open_lane(), nullptr);
  listed.close_lane(*t_lane);
  const std::string folder = folder_of(run, getpid());
  ASSERT_EQ(folder, listed.directory());
  EXPECT_EQ(header_of(bytes_of(list_of(run))).magic[0], 0);
  const auto process = bytes_of(folder + "/process.tt");
  EXPECT_EQ(std::memcmp(header_of(process).magic, file_magic, sizeof file_magic), 0);
  EXPECT_EQ(second_header_of<process_header>(process).lanes, 1u);
  EXPECT_EQ(second_header_of<process_header>(process).cpus_online, base::read_cpu_limits().online);
  const auto names = bytes_of(folder + "/names.tt");
  const std::string text(names.begin(), names.end());
  for (const char* const name : {"cpus", "before", "process start"}) EXPECT_NE(text.find(name), std::string::npos) << name;
  listed.close(process_state::exited);
  EXPECT_EQ(second_header_of<process_header>(bytes_of(folder + "/process.tt")).state, process_state::exited);
  EXPECT_EQ(bytes_of(list_of(run)).size(), header_bytes) << "nothing more is written into the list";
  EXPECT_EQ(header_of(bytes_of(list_of(run))).magic[0], 0);
}

TEST(listed_process, moves_when_its_page_is_full_and_loses_no_name) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  for (int i = 0; i < 100; ++i) listed.fact(("key " + std::to_string(i) + ".").c_str(), "value");
  const auto names = bytes_of(folder_of(run, getpid()) + "/names.tt");
  const std::string text(names.begin(), names.end());
  for (int i = 0; i < 100; ++i) EXPECT_NE(text.find("key " + std::to_string(i) + "."), std::string::npos) << i;
  EXPECT_EQ(header_of(names).dropped, 0u);
  EXPECT_EQ(header_of(bytes_of(list_of(run))).magic[0], 0);
}

TEST(listed_process, threads_that_need_a_folder_at_once_make_one) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&listed, i] {
      listed.fact(("thread " + std::to_string(i) + ".").c_str(), "");
      listed.sample(1, no_lane, i, 1);
      EXPECT_NE(listed.open_lane(), nullptr);
      listed.close_lane(*t_lane);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(folders_in(run), 1u);
  const auto names = bytes_of(folder_of(run, getpid()) + "/names.tt");
  const std::string text(names.begin(), names.end());
  for (int i = 0; i < 8; ++i) EXPECT_NE(text.find("thread " + std::to_string(i) + "."), std::string::npos) << i;
}

TEST(listed_process, stays_in_the_list_where_no_folder_can_be_made) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  scratch_run run;
  recorder& listed = listed_recorder(run);
  ASSERT_EQ(chmod(run.path().c_str(), 0500), 0);
  EXPECT_EQ(listed.open_lane(), nullptr);
  listed.close(process_state::exited);
  ASSERT_EQ(chmod(run.path().c_str(), 0700), 0);
  EXPECT_EQ(second_header_of<process_header>(bytes_of(list_of(run))).state, process_state::exited);
}

TEST(listed_process, begins_in_a_folder_where_there_can_be_no_list) {
  scratch_run run;
  ASSERT_EQ(mkdir(list_of(run).c_str(), 0700), 0);
  recorder& listed = listed_recorder(run);
  EXPECT_TRUE(listed.is_on());
  const auto process = bytes_of(folder_of(run, getpid()) + "/process.tt");
  EXPECT_EQ(second_header_of<process_header>(process).pid, static_cast<std::uint32_t>(getpid()));
}

TEST(listed_process, a_forked_child_leaves_its_parents_page_alone) {
  scratch_run run;
  recorder& listed = listed_recorder(run);
  const pid_t child = fork();
  if (child == 0) {
    listed.after_fork();
    const bool is_right = listed.open_lane() != nullptr && listed.process().pid == static_cast<std::uint32_t>(getpid());
    listed.close(process_state::exited);
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto parents = second_header_of<process_header>(bytes_of(list_of(run)));
  EXPECT_EQ(parents.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(parents.state, process_state::running);
  const auto childs = second_header_of<process_header>(bytes_of(folder_of(run, child) + "/process.tt"));
  EXPECT_EQ(childs.state, process_state::exited);
  EXPECT_EQ(childs.forked_from, static_cast<std::uint64_t>(getpid()));
}

}  // namespace
}  // namespace trimtab::observe::testing

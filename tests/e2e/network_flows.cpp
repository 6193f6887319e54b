// Two localities of one job, in two processes that this one makes: locality 0 calls functions of locality 1.
//   network_flows [adaptive | few | one-by-one | long-wait | late | tuned | served | phases | killed]
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"

namespace parcels = trimtab::parcels;

static std::atomic<std::uint64_t> sum{0};

void add_number(std::uint64_t value) { sum.fetch_add(value); }
std::size_t count_letters(const std::string& text) { return text.size(); }
std::uint64_t sum_so_far() { return sum.load(); }

static int run_locality(std::uint32_t number, const std::string& file, const std::string& mode) {
  parcels::membership self;
  self.number = number;
  self.size = 2;
  parcels::opened_transport opened = parcels::open_shm(self, {file});
  if (opened.link == nullptr) {
    std::fprintf(stderr, "%s\n", opened.error.c_str());
    return 1;
  }
  parcels::job_options options;
  options.runtime.workers = 1;
  if (mode == "one-by-one") {
    options.standard.rules = parcels::coalescing::way::strict;
    options.standard.count = 1;
  }
  if (mode == "long-wait") {
    options.standard.rules = parcels::coalescing::way::strict;
    options.standard.count = 1000;
    options.standard.wait_us = 10'000;
  }
  options.tunes_coalescing = mode == "tuned";
  if (mode == "served")
    opened.link = std::make_unique<parcels::served_transport>(std::move(opened.link), parcels::all_served(2));
  parcels::job job(std::move(opened.link), options);
  job.barrier();
  // few: a trace has room for the events of so many tasks at once, however late its file grows.
  const std::uint64_t posted = mode == "few" ? 5'000 : 20'000;
  if (mode == "phases") job.begin_phase("numbers");
  if (number == 0) {
    for (std::uint64_t i = 1; i <= posted; ++i) parcels::post(job.at(1), add_number, i);
    if (mode == "phases") job.begin_phase("letters");
    for (int i = 0; i < 10; ++i)
      if (parcels::async(job.at(1), count_letters, std::string(1000, 'x')).get() != 1000) return 2;
  }
  job.wait_until_quiet();
  if (number == 0 && parcels::async(job.at(1), sum_so_far).get() != posted * (posted + 1) / 2) return 3;
  job.barrier();
  for (int i = 0; mode == "late" && i < 10; ++i) {
    if (number == 1) usleep(30'000);
    job.barrier();
  }
  // Calls at a time for as long as it takes to learn something.
  for (int i = 0; mode == "tuned" && number == 0 && i < 20'000; ++i) {
    std::vector<trimtab::tasks::future<std::size_t>> lengths;
    for (int call = 0; call < 32; ++call) lengths.push_back(parcels::async(job.at(1), count_letters, std::string("four")));
    for (auto& length : lengths)
      if (length.get() != 4) return 4;
  }
  job.barrier();
  if (mode == "killed")
    for (;;) pause();  // until somebody kills both
  return 0;
}

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "adaptive";
  const int memory = memfd_create("network_flows", MFD_CLOEXEC);
  const std::string file = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(memory);
  const pid_t child = fork();
  if (child == 0) return run_locality(1, file, mode);
  const int own_result = run_locality(0, file, mode);
  int status = 0;
  waitpid(child, &status, 0);
  return own_result != 0 ? own_result : WEXITSTATUS(status);
}

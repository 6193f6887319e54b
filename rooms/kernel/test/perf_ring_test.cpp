// Events of this machine's scheduler. Skipped where they may not be opened.
#include "perf_ring.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/kernel/record_decoder.hpp"
#include "trimtab/kernel/scheduler_account.hpp"

namespace trimtab::kernel {

namespace {

std::string format_text(const std::string& name) {
  std::ifstream file("/sys/kernel/tracing/events/sched/" + name + "/format");
  return {std::istreambuf_iterator<char>(file), {}};
}

struct own_switches {
  thread_number thread = 0;
  long voluntary = 0;
};

// A thread on that CPU alone, which gives it up so many times.
own_switches sleep_often(std::uint16_t cpu, int times) {
  own_switches result;
  std::thread sleeper([&] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    sched_setaffinity(0, sizeof only, &only);
    result.thread = static_cast<thread_number>(syscall(SYS_gettid));
    rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < times; ++i) usleep(100);
    getrusage(RUSAGE_THREAD, &after);
    result.voluntary = after.ru_nvcsw - before.ru_nvcsw;
  });
  sleeper.join();
  return result;
}

}  // namespace

TEST(perf_ring, gives_every_switch_of_a_thread) {
  const std::string of_switch = format_text("sched_switch"), of_wakeup = format_text("sched_wakeup"),
                    of_new = format_text("sched_wakeup_new"), of_migration = format_text("sched_migrate_task"),
                    of_fork = format_text("sched_process_fork"), of_runtime = format_text("sched_stat_runtime");
  if (of_migration.empty()) GTEST_SKIP() << "tracefs cannot be read";
  record_decoder decoder({of_switch, of_wakeup, of_new, of_migration, of_fork, of_runtime});
  const std::vector<std::uint64_t> ids = decoder.ids();
  // Of all CPUs: a timer of another one may wake the thread.
  std::vector<perf_ring> rings;
  for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) {
    perf_ring::opened opened = perf_ring::open(static_cast<std::uint16_t>(cpu), ids, std::size_t{4} << 20);
    if (opened.error != 0) GTEST_SKIP() << opened.problem;
    rings.push_back(std::move(opened.ring));
  }
  const std::uint64_t begin_ns = base::monotonic_ns();
  for (perf_ring& ring : rings) ASSERT_TRUE(ring.enable());
  constexpr int times = 200;
  const own_switches expected = sleep_often(static_cast<std::uint16_t>(sched_getcpu()), times);
  for (perf_ring& ring : rings) ASSERT_TRUE(ring.disable());
  const std::uint64_t end_ns = base::monotonic_ns();

  std::vector<scheduler_event> events;
  for (perf_ring& ring : rings) {
    std::uint64_t last_ns = begin_ns;
    ring.read([&](std::span<const std::byte> record) {
      const auto event = decoder.decode(record, ring.cpu());
      ASSERT_TRUE(event);
      EXPECT_GE(event->time_ns, last_ns) << "a ring is in the order of time";
      last_ns = event->time_ns;
      events.push_back(*event);
    });
    EXPECT_LE(last_ns, end_ns) << "one clock";
  }
  EXPECT_EQ(decoder.faults().truncated + decoder.faults().unknown, 0u);
  std::ranges::stable_sort(events, {}, &scheduler_event::time_ns);
  scheduler_account account(begin_ns);
  for (const scheduler_event& one : events) account.add(one);
  account.end(end_ns);
  if (account.lost_events() != 0) GTEST_SKIP() << "the machine was too busy: events were lost";
  ASSERT_TRUE(account.threads().contains(expected.thread));
  const thread_account& own = account.threads().at(expected.thread);
  // It has also begun and ended, and waited for its CPU before it measured. That it goes on is not always recorded where the
  // CPU was idle (README).
  EXPECT_GE(own.voluntary_switches, static_cast<std::uint64_t>(expected.voluntary));
  EXPECT_LE(own.voluntary_switches, static_cast<std::uint64_t>(expected.voluntary) + 20);
}

TEST(perf_ring, says_what_is_wrong) {
  const std::vector<std::uint64_t> ids{0xffffffffu};
  const perf_ring::opened opened = perf_ring::open(0, ids, 1 << 16);
  EXPECT_NE(opened.error, 0);
  EXPECT_NE(opened.problem.find("the scheduler's events cannot be opened on CPU 0: "), std::string::npos) << opened.problem;
}

}  // namespace trimtab::kernel

#include "trimtab/tasks/core/counters.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "support.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

double value(const runtime& rt, const char* path, const snapshot& first = {}) {
  return find_counters(rt, path).at(0).value(snapshot(rt), first);
}

void spin(double microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<long>(microseconds * 1e3));
  while (std::chrono::steady_clock::now() < end) {
  }
}

// What has run is counted by its worker after it has told who waits.
void wait_until_idle(const runtime& rt) {
  while (value(rt, "/threads/count/instantaneous/staged") != 0) std::this_thread::yield();
}

TEST(counters, counts_are_exact) {
  runtime rt({.workers = 2});
  rt.run([] {
    task_scope scope;
    for (int i = 0; i < 1000; ++i) scope.spawn([] {});
  });
  wait_until_idle(rt);
  EXPECT_EQ(value(rt, "/threads/count/cumulative"), 1001);
  const snapshot first(rt);
  rt.run([] {
    for (int i = 0; i < 100; ++i) invoke([] {}, [] {});
  });
  wait_until_idle(rt);
  EXPECT_EQ(value(rt, "/threads/count/cumulative", first), 101);
  EXPECT_EQ(value(rt, "/threads/count/cumulative"), 1102);
}

TEST(counters, workers_add_up_to_the_total) {
  runtime rt({.workers = 3});
  rt.run([] {
    task_scope scope;
    for (int i = 0; i < 300; ++i) scope.spawn([] { spin(20); });
  });
  wait_until_idle(rt);
  const snapshot current(rt);
  for (const char* name : {"/threads/count/cumulative", "/threads/count/cumulative-phases", "/threads/time/busy",
                           "/threads/count/pending-accesses"}) {
    double sum = 0;
    const std::string path(name);
    for (const counter& item : find_counters(rt, "/threads{locality#0/worker-thread#*}" + path.substr(8)))
      sum += item.value(current);
    EXPECT_NEAR(find_counters(rt, name).at(0).value(current), sum, 1e-9 * sum) << name;
  }
}

TEST(counters, tasks_that_wait_are_seen) {
  runtime rt({.workers = 2});
  promise<void> source;
  auto input = source.get_future().share();
  std::vector<future<void>> waiting;
  for (int i = 0; i < 7; ++i) waiting.push_back(async([input] { input.get(); }));
  while (value(rt, "/threads/count/instantaneous/suspended") != 7) std::this_thread::yield();
  source.set_value();
  for (auto& element : waiting) element.get();
  wait_until_idle(rt);
  EXPECT_EQ(value(rt, "/threads/count/instantaneous/suspended"), 0);
  EXPECT_EQ(value(rt, "/threads/count/suspensions"), 7);
  EXPECT_EQ(value(rt, "/threads/count/cumulative-phases"), 14);
}

// The estimate of the time in tasks against full timing by the tasks themselves. Where other programs take the processors
// away, one may see what the other does not: one round of many has to agree.
TEST(counters, estimated_times_agree_with_full_timing) {
  runtime rt({.workers = 2});
  std::atomic<long> timed_ns{0};
  for (const double us : {30.0, 200.0}) {
    bool is_alike = false;
    double estimate = 0, exact = 0;
    for (int round = 0; round < 40 && !is_alike; ++round) {
      const snapshot first(rt);
      timed_ns = 0;
      rt.run([&] {
        task_scope scope;
        const auto created_between = std::chrono::steady_clock::now();
        for (int i = 0; i < 600; ++i)
          scope.spawn([&, us] {
            const auto begin = std::chrono::steady_clock::now();
            spin(us);
            timed_ns += (std::chrono::steady_clock::now() - begin).count();
          });
        timed_ns += (std::chrono::steady_clock::now() - created_between).count();
      });
      const snapshot last(rt);
      estimate = find_counters(rt, "/threads/time/cumulative").at(0).value(last, first);
      exact = static_cast<double>(timed_ns.load()) * 1e-9;
      is_alike = estimate > 0.85 * exact && estimate < 1.15 * exact;
      const double idle = find_counters(rt, "/threads/idle-rate").at(0).value(last, first);
      EXPECT_GE(idle, 0);
      EXPECT_LE(idle, 1);
    }
    EXPECT_TRUE(is_alike) << us << " us: estimated " << estimate << " s, exact " << exact << " s";
  }
}

TEST(counters, an_idle_runtime_is_idle) {
  runtime rt({.workers = 2});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GT(value(rt, "/threads/idle-rate"), 0.9);
  EXPECT_TRUE(std::isnan(value(rt, "/threads/time/average")));
}

TEST(counters, paths_and_wildcards) {
  runtime rt({.workers = 3});
  EXPECT_EQ(find_counters(rt, "/threads{locality#0/worker-thread#1}/idle-rate").at(0).path(),
            "/threads{locality#0/worker-thread#1}/idle-rate");
  EXPECT_EQ(find_counters(rt, "/threadqueue/length").at(0).path(), "/threadqueue{locality#0/total}/length");
  EXPECT_EQ(find_counters(rt, "/threads{locality#*/worker-thread#*}/idle-rate").size(), 3u);
  EXPECT_EQ(find_counters(rt, "/*").size(), counter_types().size());
  EXPECT_GT(find_counters(rt, "/threads/time/*").size(), 5u);
  for (const char* wrong :
       {"", "threads/idle-rate", "/threads/idle", "/threads{locality#1/total}/idle-rate",
        "/threads{locality#0/worker-thread#3}/idle-rate", "/threads{locality#0/worker-thread#x}/idle-rate",
        "/threads{locality#0/pool#1}/idle-rate", "/threads{locality#0/total/idle-rate"}) {
    EXPECT_TRUE(
        contains(thrown_text<std::invalid_argument>([&] { find_counters(rt, wrong); }), std::string("\"") + wrong + "\""));
  }
}

TEST(counters, are_printed_at_the_end) {
  ::testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 1, .print_counters = {"/threads/count/cumulative"}});
    rt.run([] {});
  }
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.rfind("/threads{locality#0/total}/count/cumulative,", 0), 0u) << printed;
  EXPECT_TRUE(contains(printed, ",1,1\n"));
  EXPECT_THROW(runtime({.print_counters = {"/no/such"}}), std::invalid_argument);
}

}  // namespace
}  // namespace trimtab::tasks

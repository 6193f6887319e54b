// Processes that fork while they have runtimes, and what their children can do.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support.hpp"
#include "trimtab/tasks/algorithms/loop.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/counters.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/task_scope.hpp"

namespace trimtab::tasks {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool may_child_have_threads = false;
constexpr leaving usual = leaving::at_once;
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool may_child_have_threads = false;  // one of the parent's may have held a lock of its allocator
constexpr leaving usual = leaving::at_once;     // what the parent's workers owned would count as leaked
#else
constexpr bool may_child_have_threads = true;
constexpr leaving usual = leaving::by_exit;
#endif

int uses_a_runtime_of_its_own() {
  runtime own({.workers = 2});
  return own.run([] { return async([] { return 4; }).get(); }) == 4 ? 0 : 1;
}

TEST(forks, a_child_is_told_that_the_runtime_is_its_parents) {
  runtime here({.workers = 3});
  here.run([] {});
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(status_of_child(usual,
                              [&] {
                                const std::string text = told<std::runtime_error>([&] { here.run([] {}); });
                                return contains(text, "parent process") ? 0 : 1;
                              }),
              0);
  EXPECT_EQ(here.run([] { return 5; }), 5);
}

TEST(forks, a_child_makes_a_runtime_of_its_own) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  runtime here({.workers = 3});
  here.run([] {});
  for (int round = 0; round < 3; ++round) EXPECT_EQ(status_of_child(usual, uses_a_runtime_of_its_own), 0);
  EXPECT_EQ(here.run([] { return 5; }), 5);
}

TEST(forks, a_child_of_a_task_ends) {
  // Static: its end comes in the child's exit.
  static std::unique_ptr<runtime> here;
  here = std::make_unique<runtime>(runtime_options{.workers = 2});
  for (const leaving how : {leaving::at_once, usual})
    EXPECT_EQ(here->run([&] { return status_of_child(how, [] { return 0; }); }), 0);
  EXPECT_EQ(here->run([] { return 5; }), 5);
  here.reset();
}

TEST(forks, children_of_a_busy_runtime) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  runtime here({.workers = 2});
  std::atomic<bool> is_over{false};
  std::thread user([&] {
    while (!is_over.load()) here.run([] { invoke([] { async([] {}).get(); }, [] { async([] {}).get(); }); });
  });
  for (int round = 0; round < 10; ++round) EXPECT_EQ(status_of_child(leaving::at_once, uses_a_runtime_of_its_own), 0);
  is_over = true;
  user.join();
}

// More than a thread keeps: the depot is asked.
void use_blocks() {
  std::array<void*, 200> taken;
  for (void*& each : taken) each = allocate_block(64);
  for (void* const each : taken) free_block(each, 64);
}

// Of all that the process has in common something.
int uses_everything() {
  use_blocks();
  if (!may_child_have_threads) return 0;
  runtime own({.workers = 2});
  std::atomic<int> runs{0};
  task_scope scope;
  for (int i = 0; i < 100; ++i) scope.spawn([&] { runs += 1; });
  scope.wait();
  for_loop(0, 10, [&](int) { runs += 1; });
  own.run([] { this_task::sleep_for(std::chrono::microseconds(1)); });
  return runs == 110 && !find_counters(own, "/threads/*").empty() ? 0 : 1;
}

// Whatever other threads were about to do.
TEST(forks, children_find_nothing_locked) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "not under AddressSanitizer, whose allocator has locks of its own";
#endif
  std::atomic<bool> is_over{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      while (!is_over.load()) use_blocks();
    });
    others.emplace_back([&] {
      while (!is_over.load()) {
        runtime own({.workers = 1});
        own.run([] { for_loop(0, 10, [](int) {}); });
      }
    });
  }
  others.emplace_back([&] {
    while (!is_over.load()) static_cast<void>(runtime::standard());
  });
  int status = 0, round = 0;
  for (; status == 0 && round < 200 / slower; ++round) status = status_of_child(leaving::at_once, uses_everything);
  EXPECT_EQ(status, 0) << "(1014: it hung) in round " << round;
  is_over = true;
  for (std::thread& each : others) each.join();
}

TEST(forks, a_child_has_a_standard_runtime_of_its_own) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  EXPECT_EQ(async([] { return 5; }).get(), 5);
  // Also at the child's exit.
  static std::unique_ptr<runtime> here;
  here = std::make_unique<runtime>(runtime_options{.workers = 1});
  EXPECT_EQ(status_of_child(usual, [] { return async([] { return 4; }).get() - 4; }), 0);
  here.reset();
}

}  // namespace
}  // namespace trimtab::tasks

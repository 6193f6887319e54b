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
#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/counters.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool may_child_have_threads = false;
constexpr leaving usual = leaving::by_quick_exit;
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool may_child_have_threads = false;     // one of the parent's may have held a lock of its allocator
constexpr leaving usual = leaving::by_quick_exit;  // what the parent's workers owned would count as leaked
#else
constexpr bool may_child_have_threads = true;
constexpr leaving usual = leaving::by_exit;
#endif

int uses_a_runtime_of_its_own() {
  runtime own_runtime({.workers = 2});
  return own_runtime.run([] { return async([] { return 4; }).get(); }) == 4 ? 0 : 1;
}

TEST(forks, a_child_is_told_that_the_runtime_is_its_parents) {
  runtime rt({.workers = 3});
  rt.run([] {});
  for (int round = 0; round < 3; ++round)
    EXPECT_EQ(status_of_child(usual,
                              [&] {
                                const std::string text = thrown_text<std::runtime_error>([&] { rt.run([] {}); });
                                return contains(text, "parent process") ? 0 : 1;
                              }),
              0);
  EXPECT_EQ(rt.run([] { return 5; }), 5);
}

TEST(forks, a_child_makes_a_runtime_of_its_own) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  runtime rt({.workers = 3});
  rt.run([] {});
  for (int round = 0; round < 3; ++round) EXPECT_EQ(status_of_child(usual, uses_a_runtime_of_its_own), 0);
  EXPECT_EQ(rt.run([] { return 5; }), 5);
}

TEST(forks, a_child_of_a_task_ends) {
  // Static: its end comes in the child's exit.
  static std::unique_ptr<runtime> rt;
  rt = std::make_unique<runtime>(runtime_options{.workers = 2});
  for (const leaving how : {leaving::by_quick_exit, usual})
    EXPECT_EQ(rt->run([&] { return status_of_child(how, [] { return 0; }); }), 0);
  EXPECT_EQ(rt->run([] { return 5; }), 5);
  rt.reset();
}

TEST(forks, children_of_a_busy_runtime) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  runtime rt({.workers = 2});
  std::atomic<bool> has_ended{false};
  std::thread user([&] {
    while (!has_ended.load()) rt.run([] { invoke([] { async([] {}).get(); }, [] { async([] {}).get(); }); });
  });
  for (int round = 0; round < 10; ++round) EXPECT_EQ(status_of_child(leaving::by_quick_exit, uses_a_runtime_of_its_own), 0);
  has_ended = true;
  user.join();
}

// More than a thread keeps: the depot is asked.
void use_blocks() {
  std::array<void*, 200> held;
  for (void*& block : held) block = allocate_block(64);
  for (void* const block : held) free_block(block, 64);
}

// Of all that the process has in common something.
int uses_everything() {
  use_blocks();
  if (!may_child_have_threads) return 0;
  runtime own_runtime({.workers = 2});
  std::atomic<int> runs{0};
  task_scope scope;
  for (int i = 0; i < 100; ++i) scope.spawn([&] { runs += 1; });
  scope.wait();
  for_loop(0, 10, [&](int) { runs += 1; });
  own_runtime.run([] { this_task::sleep_for(std::chrono::microseconds(1)); });
  return runs == 110 && !find_counters(own_runtime, "/threads/*").empty() ? 0 : 1;
}

// Whatever other threads were about to do.
TEST(forks, children_find_nothing_locked) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "not under AddressSanitizer, whose allocator has locks of its own";
#endif
  std::atomic<bool> has_ended{false};
  std::vector<std::thread> extra_threads;
  for (int i = 0; i < 2; ++i) {
    extra_threads.emplace_back([&] {
      while (!has_ended.load()) use_blocks();
    });
    extra_threads.emplace_back([&] {
      while (!has_ended.load()) {
        runtime own_runtime({.workers = 1});
        own_runtime.run([] { for_loop(0, 10, [](int) {}); });
      }
    });
  }
  extra_threads.emplace_back([&] {
    while (!has_ended.load()) static_cast<void>(runtime::standard());
  });
  int status = 0, round = 0;
  for (; status == 0 && round < 200 / slower; ++round) status = status_of_child(leaving::by_quick_exit, uses_everything);
  EXPECT_EQ(status, 0) << "(1014: it hung) in round " << round;
  has_ended = true;
  for (std::thread& extra_thread : extra_threads) extra_thread.join();
}

TEST(forks, a_child_has_a_standard_runtime_of_its_own) {
  if (!may_child_have_threads) GTEST_SKIP() << "not under sanitizers";
  EXPECT_EQ(async([] { return 5; }).get(), 5);
  // Also at the child's exit.
  static std::unique_ptr<runtime> rt;
  rt = std::make_unique<runtime>(runtime_options{.workers = 1});
  EXPECT_EQ(status_of_child(usual, [] { return async([] { return 4; }).get() - 4; }), 0);
  rt.reset();
}

}  // namespace
}  // namespace trimtab::tasks

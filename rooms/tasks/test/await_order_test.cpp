// Many tasks per level, awaited in any order: an awaited task that has not begun runs in place, wherever it is in the
// worker's own queue. So there are few stacks, and queues stay short.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/coroutines/await_future.hpp"
#include "trimtab/tasks/coroutines/coroutine_fork.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int depth = 3;
#else
constexpr int depth = 5;
#endif
constexpr int width = 10;
constexpr long leaves = depth == 3 ? 1000 : 100'000;

using places = std::array<int, width>;
constexpr places oldest_first{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, newest_first{9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
    mixed{4, 0, 9, 2, 7, 5, 1, 8, 3, 6};

long tree(int levels, const places& order, priority level) {
  if (levels == 0) return 1;
  std::array<future<long>, width> parts;
  for (auto& element : parts) element = async(level, tree, levels - 1, order, level);
  long sum = 0;
  for (const int index : order) sum += parts[static_cast<std::size_t>(index)].get();
  return sum;
}

co_task<long> coroutine_tree(int levels, const places& order) {
  if (levels == 0) co_return 1;
  std::vector<forked_task<long>> parts;
  for (int i = 0; i < width; ++i) parts.push_back(fork(coroutine_tree(levels - 1, order)));
  long sum = 0;
  for (const int index : order) sum += co_await parts[static_cast<std::size_t>(index)];
  co_return sum;
}

std::uint64_t sum_of(const runtime& rt, single_writer_count worker_counters::* count) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < rt.workers(); ++i) sum += (rt.counters(i).*count).get();
  return sum;
}

class await_orders : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, await_orders, all_policies({1, 2, 5}), name_of_case);

TEST_P(await_orders, stacks_stay_few) {
  if (policy_of_case() == policy::static_priority && workers() > 1)
    GTEST_SKIP() << "what waits at one worker depends on what the others run first: not bounded";
  for (const places& order : {oldest_first, newest_first, mixed}) {
    runtime rt(options());
    EXPECT_EQ(rt.run([&] { return tree(depth, order, priority::normal); }), leaves);
    EXPECT_EQ(rt.run([&] { return spawn(coroutine_tree(depth, order)).get(); }), leaves);
    // Of 11,111 tasks that wait. Only what was stolen has to be waited for; static-priority takes nothing back, and sets
    // aside what comes before the newest are run first.
    const std::uint64_t limit = policy_of_case() == policy::static_priority ? 2500 : 500;
    EXPECT_LE(sum_of(rt, &worker_counters::stacks), limit);
    // One waits for the coroutine.
    if (workers() == 1 && policy_of_case() != policy::static_priority) {
      EXPECT_LE(sum_of(rt, &worker_counters::suspended), 1u);
    }
  }
}

TEST(await_order, tasks_of_high_priority_are_run_in_place_too) {
  runtime rt({.workers = 1});
  EXPECT_EQ(rt.run([&] { return tree(depth, oldest_first, priority::high); }), leaves);
  EXPECT_EQ(sum_of(rt, &worker_counters::suspended), 0u);
}

// A window of tasks over many: what was taken out of it takes no room.
TEST(await_order, a_window_that_moves_on) {
  runtime rt({.workers = 1});
  rt.run([&] {
    future<int> stays = async([] { return 1; });
    std::vector<future<int>> window(100);
    for (int i = 0; i < 100'000; ++i) {
      future<int>& place = window[static_cast<std::size_t>(i) % window.size()];
      if (place.valid()) place.get();
      place = async([i] { return i; });
      EXPECT_LE(rt.queue_length(), 101u);
    }
    for (auto& element : window) element.get();
    EXPECT_EQ(rt.queue_length(), 1u);
    EXPECT_EQ(stays.get(), 1);
  });
  EXPECT_EQ(sum_of(rt, &worker_counters::suspended), 0u);
}

}  // namespace
}  // namespace trimtab::tasks

// Tasks that can go on come before new ones, and keep nobody out for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"

namespace trimtab::tasks {
namespace {

std::uint64_t stacks_of(const runtime& rt) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < rt.workers(); ++i) sum += rt.counters(i).stacks.get();
  return sum;
}

// Each second task keeps a promise for which the one before it waits.
long run_pairs(int count) {
  std::vector<promise<int>> promises(static_cast<std::size_t>(count));
  std::vector<future<int>> results;
  for (auto& each : promises) {
    results.push_back(async([awaited = each.get_future()]() mutable { return awaited.get(); }));
    results.push_back(async([&each] { return each.set_value(1), 0; }));
  }
  long sum = 0;
  for (auto& each : results) sum += each.get();
  return sum;
}

class continuing_with_priorities : public on_policies {};
INSTANTIATE_TEST_SUITE_P(
    tasks, continuing_with_priorities,
    policies_with({policy::local_priority, policy::abp_priority, policy::static_priority, policy::periodic_priority}, {1}),
    name_of_case);

TEST_P(continuing_with_priorities, a_task_gives_its_stack_back_before_others_need_one) {
  runtime rt(options());
  constexpr int pairs = 1000;
  EXPECT_EQ(rt.run([] { return run_pairs(pairs); }), pairs);
  // One in 32 waits behind new tasks.
  EXPECT_LE(stacks_of(rt), 4u + pairs / 32);
}

class continuing : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, continuing, all_policies({1, 2, 5}), name_of_case);

TEST_P(continuing, pairs_end_under_every_policy) {
  runtime rt(options());
  EXPECT_EQ(rt.run([] { return run_pairs(2000 / slower); }), 2000 / slower);
}

TEST_P(continuing, a_circle_of_tasks_does_not_keep_new_ones_out) {
  runtime rt(options());
  rt.run([] {
    constexpr std::size_t circles = 8;
    std::atomic<bool> is_over = false;
    std::deque<counting_semaphore<>> pings, pongs;
    for (std::size_t i = 0; i < circles; ++i) pings.emplace_back(0), pongs.emplace_back(0);
    std::vector<future<void>> all;
    for (std::size_t i = 0; i < circles; ++i) {
      all.push_back(async([&, i] {
        while (!is_over) pings[i].release(), pongs[i].acquire();
        pings[i].release();
      }));
      all.push_back(async([&, i] {
        while (!is_over) pings[i].acquire(), pongs[i].release();
        pongs[i].release();
      }));
    }
    // Made last, by a task: it lies behind all of them.
    all.push_back(async([&] { async([&] { is_over = true; }).get(); }));
    for (auto& each : all) each.get();
  });
}

TEST(continuing_levels, a_task_of_low_priority_does_not_go_before_new_ones) {
  runtime rt({.workers = 1, .policy = policy::local_priority});
  std::vector<int> order;
  rt.run([&] {
    promise<void> kept;
    auto low = async(priority::low, [&, awaited = kept.get_future()]() mutable {
      awaited.get();
      order.push_back(0);
    });
    // Until the low one waits: nothing else is there.
    while (rt.counters(0).suspended.get() < 1) worker::yield();
    std::vector<future<void>> others;
    for (int i = 1; i <= 3; ++i) others.push_back(async([&, i] { order.push_back(i); }));
    kept.set_value();
    for (int turn = 0; turn < 8; ++turn) worker::yield();
    for (auto& each : others) each.get();
    low.get();
  });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 0}));
}

TEST(continuing_levels, a_task_of_high_priority_goes_on_before_all_others) {
  runtime rt({.workers = 1, .policy = policy::local_priority});
  std::vector<int> order;
  rt.run([&] {
    promise<void> kept;
    auto high = async(priority::high, [&, awaited = kept.get_future()]() mutable {
      awaited.get();
      order.push_back(0);
    });
    while (rt.counters(0).suspended.get() < 1) worker::yield();
    // Whichever turn it is.
    for (int i = 0; i < 40; ++i) async([] { worker::yield(); }).get();
    std::vector<future<void>> others;
    for (int i = 1; i <= 3; ++i) others.push_back(async([&, i] { order.push_back(i); }));
    kept.set_value();
    for (int turn = 0; turn < 8; ++turn) worker::yield();
    for (auto& each : others) each.get();
    high.get();
  });
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace trimtab::tasks

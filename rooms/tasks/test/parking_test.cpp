// Workers that sleep, are woken, and are capped.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

using namespace std::chrono_literals;

class parking : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, parking, all_policies({1, 2, 3, 7}), name_of_case);

// Every worker goes to sleep between two steps.
TEST_P(parking, no_wake_up_is_lost_between_a_thread_and_the_workers) {
  runtime rt(options());
  for (int round = 0; round < 1000 / slower; ++round) {
    const std::uint64_t previous = times_parked(rt);
    ASSERT_EQ(rt.run([round] { return round; }), round);
    for (int look = 0; look < 100 && times_parked(rt) == previous; ++look) std::this_thread::yield();
  }
}

TEST_P(parking, no_wake_up_is_lost_between_two_tasks) {
  runtime rt(options());
  const int rounds = 2000 / slower;
  std::vector<promise<int>> targets(static_cast<std::size_t>(rounds)), returned(static_cast<std::size_t>(rounds));
  const auto item = [](auto& source, int index) -> auto& { return source[static_cast<std::size_t>(index)]; };
  rt.run([&] {
    auto second = async([&] {
      for (int i = 0; i < rounds; ++i) {
        const int observed = item(targets, i).get_future().get();
        item(returned, i).set_value(observed + 1);
      }
    });
    for (int i = 0; i < rounds; ++i) {
      item(targets, i).set_value(i);
      EXPECT_EQ(item(returned, i).get_future().get(), i + 1);
    }
    second.get();
  });
}

TEST_P(parking, many_producers_and_each_task_runs_once) {
  runtime rt(options());
  const std::size_t threads = 3, tasks_per_thread = 3000 / slower, children = 3;
  const std::size_t count = threads * tasks_per_thread * (1 + children);
  std::vector<std::atomic<int>> times(count);
  std::atomic<std::size_t> finished{0};
  std::vector<std::unique_ptr<calling_task>> calls(threads * tasks_per_thread);
  std::vector<std::thread> producers;
  for (std::size_t p = 0; p < threads; ++p)
    producers.emplace_back([&, p] {
      for (std::size_t i = p * tasks_per_thread; i < (p + 1) * tasks_per_thread; ++i) {
        calls[i] = std::make_unique<calling_task>([&, i] {
          times[i] += 1;
          for (std::size_t child = 0; child < children; ++child)
            async(static_cast<priority>(child), [&, at = threads * tasks_per_thread + i * children + child] {
              times[at] += 1;
              finished += 1;
            });
          finished += 1;
        });
        calls[i]->level = static_cast<priority>(i % 3);
        rt.submit(*calls[i], static_cast<std::int32_t>(i % 5) - 1);
      }
    });
  for (std::thread& producer : producers) producer.join();
  while (finished.load() != count) std::this_thread::yield();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(times[i].load(), 1) << "task " << i;
}

TEST_P(parking, the_cap_changes_while_tasks_run_and_none_is_lost) {
  runtime rt(options());
  std::atomic<bool> has_ended{false};
  std::thread turner([&] {
    std::mt19937 random(7);
    while (!has_ended.load()) {
      rt.set_active_workers(1 + static_cast<std::uint32_t>(random() % rt.workers()));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
  });
  for (int round = 0; round < 60 / slower; ++round) {
    std::atomic<int> runs{0};
    const int sum = rt.run([&] {
      std::vector<future<int>> futures;
      for (int i = 0; i < 300; ++i)
        futures.push_back(async(static_cast<priority>(i % 3), [&runs, i] {
          int first = 0, two = 0;
          invoke([&] { first = i; }, [&] { two = i; });
          if (i % 7 == 0) worker::yield();
          runs += 1;
          return first + two;
        }));
      int total = 0;
      for (auto& element : futures) total += element.get();
      return total;
    });
    ASSERT_EQ(sum, 299 * 300);
    ASSERT_EQ(runs.load(), 300);
  }
  has_ended = true;
  turner.join();
  rt.set_active_workers(1);
  // Who looked for a task while the cap sank may still find that one.
  std::vector<std::uint64_t> started;
  for (std::uint32_t i = 0; i < rt.workers(); ++i) started.push_back(rt.counters(i).started.get());
  for (int i = 0; i < 500; ++i) rt.run([] { async([] {}).get(); });
  for (std::uint32_t i = 1; i < rt.workers(); ++i) EXPECT_LE(rt.counters(i).started.get(), started[i] + 1) << i;
}

TEST_P(parking, low_priority_is_served_when_nothing_else_is_left) {
  runtime rt(options());
  std::atomic<int> runs{0};
  rt.run([&] {
    std::vector<future<void>> futures;
    for (int i = 0; i < 50; ++i) futures.push_back(async(priority::low, [&] { runs += 1; }));
    for (auto& element : futures) element.get();
  });
  EXPECT_EQ(runs.load(), 50);
}

// One task after the other, with time between: each wakes no more than who is needed, and maybe a few in vain.
TEST_P(parking, a_trickle_of_tasks_does_not_wake_everybody) {
  runtime rt(options());
  for (int i = 0; i < 10; ++i) rt.run([] {});
  const std::uint64_t previous = times_parked(rt);
  const std::uint64_t tasks = 300;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    rt.run([] {});
    std::this_thread::sleep_for(300us);
  }
  EXPECT_LE(times_parked(rt) - previous, tasks * 2 + 4 * workers());
}

// Exactly: who was not woken did not go to sleep again.
TEST(static_priority, wakes_only_who_may_run_a_task) {
  runtime rt({.workers = 4, .policy = policy::static_priority, .deadlock_ms = 0});
  const auto parked = [&](std::uint32_t worker) { return rt.counters(worker).parked.get(); };
  const auto wait_for = [](auto&& condition) {
    while (!condition()) std::this_thread::yield();
  };
  for (std::uint32_t i = 0; i < 4; ++i) wait_for([&] { return parked(i) >= 1; });
  std::atomic<int> runs{0};
  calling_task caller([&] { runs += 1; });
  // `runs` is read, too, for order: counters give none, and the task is used again.
  for (int i = 1; i <= 100; ++i) {
    rt.submit(caller, 2);
    wait_for([&] { return runs.load() == i && parked(2) >= 1u + static_cast<unsigned>(i); });
  }
  EXPECT_EQ(parked(2), 101u);
  for (const std::uint32_t other : {0u, 1u, 3u}) EXPECT_EQ(parked(other), 1u);
  // Any may run it, and one is woken.
  caller.level = priority::low;
  for (int i = 1; i <= 100; ++i) {
    rt.submit(caller);
    wait_for([&] { return runs.load() == 100 + i && times_parked(rt) >= 104u + static_cast<unsigned>(i); });
  }
  EXPECT_EQ(times_parked(rt), 204u);
  EXPECT_EQ(runs.load(), 200);
}

// The tasks of a worker above the cap are another's, which is woken for them.
TEST(static_priority, wakes_who_stands_in_for_a_capped_worker) {
  runtime rt({.workers = 5, .policy = policy::static_priority, .deadlock_ms = 0});
  for (int i = 0; i < 2000 / slower; ++i) {
    if (i % 8 == 0) rt.set_active_workers(1 + static_cast<std::uint32_t>(i / 8 * 3) % 5);
    completion finished;
    calling_task caller([&] { finished.complete(); });
    caller.level = i % 5 == 0 ? priority::low : i % 3 == 0 ? priority::high : priority::normal;
    rt.submit(caller, i % 7 - 1);
    finished.wait(wait_reason::run);
  }
}

TEST(idle, a_runtime_without_work_uses_no_processor) {
  runtime rt({.workers = 8, .deadlock_ms = 100});
  rt.run([] {});
  EXPECT_TRUE(comes_to_rest(1s, 60ms * slower));  // 1 % is 10 ms; the rest is for clock ticks
}

TEST(many_workers, sixty_four_workers_on_few_processors) {
  for (const policy which : {policy::local_priority, policy::hierarchy, policy::static_priority}) {
    runtime rt({.workers = 64, .policy = which, .deadlock_ms = 0});
    const std::function<long(int)> fib = [&](int n) -> long {
      if (n < 2) return n;
      auto second = async([&fib, n] { return fib(n - 1); });
      const long first = fib(n - 2);
      return first + second.get();
    };
    EXPECT_EQ(rt.run([&] { return fib(slower == 1 ? 16 : 10); }), slower == 1 ? 987 : 55);
  }
}

}  // namespace
}  // namespace trimtab::tasks

// Waiting with a limit: of time, and of what may come before.
#include "trimtab/tasks/sync/timer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/condition_variable.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"

namespace trimtab::tasks {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class timed : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, timed, all_policies({1, 2, 5}), name_of_case);

TEST_P(timed, sleepers_do_not_keep_the_worker) {
  const auto begin = clock::now();
  std::atomic<int> awake{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 100; ++i)
      scope.spawn([&, i] {
        this_task::sleep_for(std::chrono::milliseconds(1 + i % 10));
        EXPECT_GE(clock::now() - begin, std::chrono::milliseconds(1 + i % 10));
        ++awake;
      });
  });
  EXPECT_EQ(awake.load(), 100);
  EXPECT_EQ(timer::armed(), 0u);
}

TEST_P(timed, a_future_is_waited_for_no_longer_than_said) {
  promise<int> source;
  shared_future<int> input = source.get_future();
  rt.run([&] {
    EXPECT_EQ(input.wait_for(1ms), std::future_status::timeout);
    EXPECT_EQ(input.wait_until(std::chrono::system_clock::now() + 1ms), std::future_status::timeout);
    EXPECT_EQ(input.wait_for(-1s), std::future_status::timeout);
  });
  EXPECT_EQ(input.wait_for(1ms), std::future_status::timeout);
  future<std::future_status> waiter = async([&] { return input.wait_for(1h); });
  std::thread external_thread([&] { EXPECT_EQ(input.wait_for(std::chrono::hours::max()), std::future_status::ready); });
  source.set_value(1);
  external_thread.join();
  EXPECT_EQ(waiter.get(), std::future_status::ready);
  EXPECT_EQ(timer::armed(), 0u);
}

// Many wait for one future, with limits near the time at which it comes.
TEST_P(timed, limits_and_what_comes_do_not_lose_each_other) {
  for (int round = 0; round < 20; ++round) {
    promise<void> source;
    shared_future<void> input = source.get_future();
    std::atomic<int> in_time{0}, late{0};
    rt.run([&] {
      task_scope scope;
      for (int i = 0; i < 30; ++i)
        scope.spawn([&, i] {
          const bool is_ready = input.wait_for(std::chrono::microseconds(20 * i)) == std::future_status::ready;
          is_ready ? ++in_time : ++late;
          if (is_ready) {
            EXPECT_TRUE(input.ready());
          }
        });
      this_task::sleep_for(300us);
      source.set_value();
    });
    EXPECT_EQ(in_time.load() + late.load(), 30);
  }
}

TEST_P(timed, a_mutex_and_its_waiters_with_limits) {
  mutex lock;
  long count = 0, received = 0;
  std::atomic<long> held{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 20; ++i)
      scope.spawn([&, i] {
        for (int round = 0; round < 20; ++round) {
          if (!lock.try_lock_for(std::chrono::microseconds((i * round) % 150))) continue;
          ++held;
          const long previous = count;
          if (round % 4 == 0) this_task::sleep_for(20us);
          count = previous + 1;
          lock.unlock();
        }
      });
  });
  received = count;
  EXPECT_EQ(received, held.load());
  EXPECT_TRUE(lock.try_lock());
}

// Permits are neither lost nor made by waits that end too early.
TEST_P(timed, permits_are_kept) {
  counting_semaphore<> free(2);
  std::atomic<int> active{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 20; ++i)
      scope.spawn([&, i] {
        std::mt19937 random(static_cast<unsigned>(i));
        for (int round = 0; round < 30; ++round) {
          if (!free.try_acquire_for(std::chrono::microseconds(random() % 100))) continue;
          EXPECT_LE(++active, 2);
          if (round % 3 == 0) this_task::yield();
          --active;
          free.release();
        }
      });
  });
  EXPECT_TRUE(free.try_acquire());
  EXPECT_TRUE(free.try_acquire());
  EXPECT_FALSE(free.try_acquire());
}

TEST_P(timed, a_condition_is_told_or_too_late) {
  mutex lock;
  condition_variable changed;
  bool is_set = false;
  rt.run([&] {
    {
      std::unique_lock guard(lock);
      EXPECT_EQ(changed.wait_for(guard, 1ms), std::cv_status::timeout);
      EXPECT_FALSE(changed.wait_for(guard, 1ms, [&] { return is_set; }));
    }
    future<bool> waiter = async([&] {
      std::unique_lock guard(lock);
      return changed.wait_for(guard, 1h, [&] { return is_set; });
    });
    {
      const std::lock_guard guard(lock);
      is_set = true;
    }
    changed.notify_all();
    EXPECT_TRUE(waiter.get());
  });
}

TEST(timer, expires_in_the_order_of_time_and_can_be_cancelled) {
  struct noted : timer {
    noted(std::vector<int>& log, int label)
        : timer([](timer& self) noexcept {
            auto& derived = static_cast<noted&>(self);
            derived.observed->push_back(derived.number);
          }),
          observed(&log),
          number(label) {}
    std::vector<int>* observed;
    int number;
  };
  std::vector<int> observed;
  std::vector<std::unique_ptr<noted>> timers;
  for (int i = 0; i < 50; ++i) timers.push_back(std::make_unique<noted>(observed, i));
  const auto begin = clock::now() + 20ms;
  for (int i = 0; i < 50; ++i) timers[static_cast<std::size_t>(i)]->arm(begin + std::chrono::microseconds(i * 17 % 50 * 10));
  for (std::size_t i = 0; i < 50; i += 2) EXPECT_TRUE(timers[i]->cancel());
  while (timer::armed() != 0) std::this_thread::yield();
  for (const auto& element : timers) element->cancel();  // until the last one is through
  ASSERT_EQ(observed.size(), 25u);
  for (std::size_t i = 1; i < observed.size(); ++i) EXPECT_LT(observed[i - 1] * 17 % 50, observed[i] * 17 % 50);
}

#if !defined(__SANITIZE_THREAD__)
TEST(timer, works_in_a_forked_child) {
  runtime first_runtime({.workers = 1});
  first_runtime.run([] { this_task::sleep_for(1ms); });
  const auto waits_notified = [] {
    parked<> waits;
    return detail::wait_until(waits, detail::deadline_after(1ms), wait_reason::time, nullptr,
                              [](waiter&) noexcept { return true; });
  };
  EXPECT_EQ(status_of_child(leaving::by_quick_exit, [&] { return waits_notified() ? 1 : 0; }), 0);
}
#endif

// Not told as a deadlock: time goes on.
TEST(timer, who_sleeps_is_not_stuck) {
  std::atomic<int> notified{0};
  runtime rt({.workers = 2, .deadlock_ms = 5, .on_deadlock = [&](std::string_view) { ++notified; }});
  rt.run([] { this_task::sleep_for(60ms); });
  EXPECT_EQ(notified.load(), 0);
}

// Nor while what is to happen at the time is under way, however long that takes.
TEST(timer, that_expires_just_now_is_waited_for) {
  std::atomic<int> notified{0};
  runtime rt({.workers = 2, .deadlock_ms = 1, .on_deadlock = [&](std::string_view) { ++notified; }});
  struct slow : timer {
    explicit slow(runtime& rt)
        : timer([](timer& self) noexcept {
            auto& derived = static_cast<slow&>(self);
            // Every worker has slept for as long as is taken for a deadlock, and has looked around.
            for (const std::uint64_t previous = times_parked(*derived.owner); times_parked(*derived.owner) < previous + 10;)
              std::this_thread::yield();
            derived.source.set_value(3);
          }),
          owner(&rt) {}
    runtime* owner;
    promise<int> source;
  } late(rt);
  EXPECT_EQ(rt.run([&] {
    late.arm(clock::now());
    return late.source.get_future().get();
  }),
            3);
  EXPECT_FALSE(late.cancel());
  EXPECT_EQ(notified.load(), 0);
}

}  // namespace
}  // namespace trimtab::tasks

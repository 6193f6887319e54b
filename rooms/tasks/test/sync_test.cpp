// mutex, shared_mutex, condition variable, semaphore, latch, barrier: in tasks, and in threads that are no workers.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/condition_variable.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/shared_mutex.hpp"

namespace trimtab::tasks {
namespace {

class synchronisation : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, synchronisation, all_policies({1, 2, 5}), name_of_case);

// So that others come in between.
void linger(int i) {
  if (i % 7 == 0) this_task::yield();
}

TEST_P(synchronisation, one_at_a_time_holds_a_mutex) {
  mutex lock;
  long count = 0;  // not atomic: the mutex is what makes it right
  const auto work = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard guard(lock);
      const long previous = count;
      linger(i);
      count = previous + 1;
    }
  };
  std::thread external_thread([&] { work(200); });
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 20; ++i) scope.spawn([&] { work(50); });
  });
  external_thread.join();
  EXPECT_EQ(count, 1200);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

TEST_P(synchronisation, a_mutex_that_its_last_holder_destroys) {
  rt.run([] {
    for (int round = 0; round < 100; ++round) {
      auto lock = std::make_unique<mutex>();
      lock->lock();
      future<void> last = async([&] { lock->lock(); });
      lock->unlock();
      last.get();
      lock.reset();
    }
  });
}

TEST_P(synchronisation, readers_share_and_writers_do_not) {
  shared_mutex lock;
  int value = 0;
  std::atomic<int> readers{0}, most_readers{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 60; ++i) {
      if (i % 4 == 0) {
        scope.spawn([&] {
          const std::lock_guard guard(lock);
          const int previous = value;
          this_task::yield();
          EXPECT_EQ(readers.load(), 0);
          value = previous + 1;
        });
      } else {
        scope.spawn([&] {
          const std::shared_lock guard(lock);
          const int current = ++readers, previous = value;
          int limit = most_readers.load();
          while (limit < current && !most_readers.compare_exchange_weak(limit, current)) {
          }
          this_task::yield();
          EXPECT_EQ(value, previous);
          --readers;
        });
      }
    }
  });
  EXPECT_EQ(value, 15);
  EXPECT_GE(most_readers.load(), 2);
}

TEST_P(synchronisation, what_is_put_is_taken_through_a_condition) {
  mutex lock;
  condition_variable changed;
  std::vector<int> items;
  long sum = 0;
  const auto acquire = [&](int count) {
    for (int i = 0; i < count; ++i) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return !items.empty(); });
      sum += items.back();
      items.pop_back();
    }
  };
  std::thread external_thread([&] { acquire(50); });
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 5; ++i) scope.spawn([&] { acquire(50); });
    for (int i = 0; i < 3; ++i)
      scope.spawn([&] {
        for (int item = 1; item <= 100; ++item) {
          const std::lock_guard guard(lock);
          items.push_back(item);
          item % 10 == 0 ? changed.notify_all() : changed.notify_one();
        }
      });
  });
  external_thread.join();
  EXPECT_EQ(sum, 3 * 5050);
}

TEST_P(synchronisation, no_more_than_allowed_hold_a_semaphore) {
  counting_semaphore<> free(3);
  std::atomic<int> active{0}, runs{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 100; ++i)
      scope.spawn([&, i] {
        free.acquire();
        EXPECT_LE(++active, 3);
        linger(i);
        --active;
        ++runs;
        free.release();
      });
  });
  EXPECT_EQ(runs.load(), 100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(free.try_acquire());
  EXPECT_FALSE(free.try_acquire());
}

TEST_P(synchronisation, several_permits_at_once_wake_several) {
  counting_semaphore<> free(0);
  std::atomic<int> runs{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 40; ++i)
      scope.spawn([&] {
        free.acquire();
        ++runs;
      });
    for (int i = 0; i < 8; ++i) scope.spawn([&] { free.release(5); });
  });
  EXPECT_EQ(runs.load(), 40);
  EXPECT_FALSE(free.try_acquire());
}

TEST_P(synchronisation, a_latch_opens_for_all) {
  latch open(10);
  std::atomic<int> passed{0};
  std::thread external_thread([&] { open.wait(); });
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 20; ++i)
      scope.spawn([&, i] {
        if (i % 2 == 0) open.count_down();
        open.wait();
        EXPECT_TRUE(open.try_wait());
        ++passed;
      });
  });
  external_thread.join();
  EXPECT_EQ(passed.load(), 20);
  EXPECT_TRUE(latch(0).try_wait());
}

TEST_P(synchronisation, nobody_passes_a_barrier_before_all_have_come) {
  constexpr int members = 8, phases = 30;
  int ended = 0;
  std::atomic<int> arrived{0};
  barrier meeting(members, [&] {
    EXPECT_EQ(arrived.load(), members * (ended + 1));
    ++ended;
  });
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < members; ++i)
      scope.spawn([&] {
        for (int phase = 0; phase < phases; ++phase) {
          ++arrived;
          meeting.arrive_and_wait();
          EXPECT_GE(arrived.load(), members * (phase + 1));
        }
      });
  });
  EXPECT_EQ(ended, phases);
}

TEST_P(synchronisation, who_drops_out_of_a_barrier_is_not_waited_for) {
  barrier meeting(3);
  std::atomic<int> passed{0};
  rt.run([&] {
    task_scope scope;
    scope.spawn([&] { meeting.arrive_and_drop(); });
    for (int i = 0; i < 2; ++i)
      scope.spawn([&] {
        meeting.arrive_and_wait();
        meeting.arrive_and_wait();
        ++passed;
      });
  });
  EXPECT_EQ(passed.load(), 2);
}

}  // namespace
}  // namespace trimtab::tasks

// What waits for a time only: shared_mutex and channel. No times are asserted but that of one that cannot be early.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/shared_mutex.hpp"

namespace trimtab::tasks {
namespace {

using namespace std::chrono_literals;

class timed_primitives : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, timed_primitives, all_policies({1, 2, 5}), name_of_case);

TEST_P(timed_primitives, a_shared_mutex_is_had_in_time_or_not) {
  rt.run([] {
    shared_mutex lock;
    lock.lock();
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(async([&] { return lock.try_lock_for(2ms); }).get());
    EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
    EXPECT_FALSE(async([&] { return lock.try_lock_shared_until(std::chrono::system_clock::now() + 1ms); }).get());
    EXPECT_FALSE(async([&] { return lock.try_lock_for(-1s); }).get());
    future<bool> reader = async([&] { return lock.try_lock_shared_for(1h); });
    future<bool> second = async([&] { return lock.try_lock_shared_until(std::chrono::steady_clock::now() + 1h); });
    this_task::yield();
    lock.unlock();
    EXPECT_TRUE(reader.get() && second.get());
    EXPECT_FALSE(async([&] { return lock.try_lock_until(std::chrono::steady_clock::now() + 1ms); }).get());
    lock.unlock_shared();
    lock.unlock_shared();
    const std::unique_lock<shared_mutex> exclusive(lock, 1h);
    EXPECT_TRUE(exclusive.owns_lock());
  });
}

// A writer that gives up lets the readers go on that came after it, though somebody still reads.
TEST_P(timed_primitives, readers_behind_a_writer_that_gives_up_go_on) {
  rt.run([] {
    shared_mutex lock;
    lock.lock_shared();
    // Again where the writer gave up before it was seen to wait: the machine has others to serve.
    for (bool is_visible = false; !is_visible;) {
      future<bool> writer = async([&] { return lock.try_lock_for(20ms); });
      while (!is_visible && !writer.ready()) {
        is_visible = !lock.try_lock_shared();
        if (!is_visible) lock.unlock_shared();
        this_task::yield();
      }
      future<void> reader = async([&] {
        lock.lock_shared();
        lock.unlock_shared();
      });
      EXPECT_FALSE(writer.get());
      reader.get();
    }
    lock.unlock_shared();
  });
}

// Times that run out while it is handed over: it is with one or with nobody.
TEST_P(timed_primitives, a_shared_mutex_that_is_wanted_by_many_for_short_times) {
  shared_mutex lock;
  std::atomic<int> readers{0}, writers{0}, wrong{0};
  rt.run([&] {
    std::vector<future<void>> futures;
    for (int i = 0; i < 60; ++i)
      futures.push_back(async([&, i] {
        for (int round = 0; round < 10; ++round) {
          const auto time = std::chrono::microseconds((i * 13 + round * 7) % 50);
          if (i % 3 == 0) {
            if (!lock.try_lock_for(time)) continue;
            wrong += writers.fetch_add(1) != 0 || readers.load() != 0;
            if (round % 2 == 0) this_task::yield();
            writers -= 1;
            lock.unlock();
          } else {
            if (!lock.try_lock_shared_for(time)) continue;
            readers += 1;
            wrong += writers.load() != 0;
            if (round % 3 == 0) this_task::yield();
            readers -= 1;
            lock.unlock_shared();
          }
        }
      }));
    for (auto& element : futures) element.get();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(timed_primitives, a_channel_takes_and_gives_in_time_or_not) {
  rt.run([] {
    channel<std::unique_ptr<int>> line(1);
    EXPECT_EQ(line.try_receive_for(1ms), std::nullopt);
    EXPECT_TRUE(line.try_send_for(std::make_unique<int>(1), 1ms));
    auto kept = std::make_unique<int>(2);
    EXPECT_FALSE(line.try_send_until(std::move(kept), std::chrono::steady_clock::now() + 1ms));
    ASSERT_NE(kept, nullptr);  // not moved from
    future<bool> sender = async([&] { return line.try_send_for(std::move(kept), 1h); });
    this_task::yield();
    EXPECT_EQ(**line.try_receive_until(std::chrono::system_clock::now() + 1h), 1);
    EXPECT_EQ(**line.try_receive_for(1h), 2);
    EXPECT_TRUE(sender.get());
    auto receiver = async([&] { return line.try_receive_for(1h); });
    this_task::yield();
    line.close();
    EXPECT_EQ(receiver.get(), std::nullopt);
    EXPECT_FALSE(line.try_send_for(std::make_unique<int>(3), 1h));
  });
}

// Each value that somebody says he has sent arrives once, and no other.
TEST_P(timed_primitives, a_channel_of_short_times_loses_nothing) {
  for (const std::size_t capacity : {0u, 3u}) {
    channel<int> line(capacity);
    std::atomic<long> sent{0}, received{0};
    std::atomic<int> senders{8};
    rt.run([&] {
      std::vector<future<void>> futures;
      for (int i = 0; i < 8; ++i)
        futures.push_back(async([&, i] {
          for (int round = 0; round < 50; ++round) {
            int value = 100 * i + round;
            if (line.try_send_for(std::move(value), std::chrono::microseconds(round % 40))) sent += 100 * i + round;
          }
          if (senders.fetch_sub(1) == 1) line.close();
        }));
      for (int i = 0; i < 4; ++i)
        futures.push_back(async([&] {
          while (!line.is_closed() || capacity != 0) {
            const std::optional<int> value = line.try_receive_for(std::chrono::microseconds(30));
            if (value) received += *value;
            if (!value && line.is_closed()) break;
          }
        }));
      for (auto& element : futures) element.get();
      while (const std::optional<int> value = line.try_receive()) received += *value;
    });
    EXPECT_EQ(sent.load(), received.load());
  }
}

}  // namespace
}  // namespace trimtab::tasks

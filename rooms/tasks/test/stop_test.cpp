// Waits that a stop token ends: what it was waited for is as it was, and nobody else is passed over.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/graph/graph.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/condition_variable.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/shared_mutex.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::tasks {
namespace {

using namespace std::chrono_literals;

class stopped_waits : public on_a_runtime {
 protected:
  // What wait(token) gives in a task and in a thread that is no worker, if stop is requested while it waits.
  template <class function>
  void expect_stopped(function&& wait) {
    for (int round = 0; round < 20; ++round) {
      std::stop_source source, second;
      std::atomic<bool> begins{false};
      std::thread external_thread([&] { EXPECT_FALSE(wait(second.get_token())); });
      rt.run([&] {
        // The token that it waits with is its own, too.
        future<bool> waits = async(source.get_token(), [&] {
          begins = true;
          return wait(this_task::stop_token());
        });
        while (!begins) this_task::yield();
        if (round % 2 == 0) this_task::yield();
        source.request_stop();
        EXPECT_FALSE(waits.get());
        // And before.
        EXPECT_FALSE(wait(source.get_token()));
      });
      second.request_stop();
      external_thread.join();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(tasks, stopped_waits, all_policies({1, 2, 5}), name_of_case);

TEST_P(stopped_waits, for_futures) {
  promise<int> late;
  shared_future<int> input = late.get_future().share();
  expect_stopped([&](const std::stop_token& stop) { return input.wait(stop); });
  std::stop_source source;
  source.request_stop();
  EXPECT_TRUE(
      contains(thrown_text<stopped>([&] { static_cast<void>(input.get(source.get_token())); }), "waited for a future"));
  promise<int> second;
  future<int> alone = second.get_future();
  EXPECT_THROW(alone.get(source.get_token()), stopped);
  late.set_value(3);
  second.set_value(4);
  // What is there is there.
  EXPECT_TRUE(input.wait(source.get_token()));
  EXPECT_EQ(input.get(source.get_token()) + alone.get(source.get_token()), 7);
  EXPECT_FALSE(alone.valid());
}

TEST_P(stopped_waits, for_permits_and_locks) {
  counting_semaphore<> permits(0);
  expect_stopped([&](const std::stop_token& stop) { return permits.try_acquire(stop); });
  mutex lock;
  lock.lock();
  expect_stopped([&](const std::stop_token& stop) { return lock.try_lock(stop); });
  shared_mutex shared;
  shared.lock_shared();
  expect_stopped([&](const std::stop_token& stop) { return shared.try_lock(stop); });
  EXPECT_TRUE(shared.try_lock_shared(std::stop_token()));
  shared.unlock_shared();
  shared.unlock_shared();
  shared.lock();
  expect_stopped([&](const std::stop_token& stop) { return shared.try_lock_shared(stop); });
  latch opens(1);
  expect_stopped([&](const std::stop_token& stop) { return opens.wait(stop); });
  // None of them is owed to those that gave up.
  std::stop_source source;
  source.request_stop();
  permits.release();
  EXPECT_TRUE(permits.try_acquire(source.get_token()));
  EXPECT_FALSE(permits.try_acquire());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock(source.get_token()));
  shared.unlock();
  EXPECT_TRUE(shared.try_lock(source.get_token()));
  opens.count_down();
  EXPECT_TRUE(opens.wait(source.get_token()));
}

TEST_P(stopped_waits, for_barriers) {
  int steps = 0;
  barrier meeting(3, [&]() noexcept { steps += 1; });
  expect_stopped([&](const std::stop_token& stop) { return meeting.arrive_and_wait(stop); });
  std::stop_source source;
  source.request_stop();
  // None of them has arrived.
  auto two = meeting.arrive(2);
  EXPECT_EQ(steps, 0);
  EXPECT_TRUE(meeting.arrive_and_wait(source.get_token()));
  EXPECT_EQ(steps, 1);
  EXPECT_TRUE(meeting.wait(std::move(two), source.get_token()));
  // Who has arrived before has.
  auto first = meeting.arrive();
  EXPECT_FALSE(meeting.wait(std::move(first), source.get_token()));
  static_cast<void>(meeting.arrive(2));
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(meeting.wait(std::move(first), source.get_token()));
  // The others go on without it.
  EXPECT_FALSE(meeting.arrive_and_wait(source.get_token()));
  meeting.arrive_and_drop();
  static_cast<void>(meeting.arrive(2));
  static_cast<void>(meeting.arrive(2));
  EXPECT_EQ(steps, 4);
}

TEST_P(stopped_waits, for_conditions_and_times) {
  mutex lock;
  condition_variable changed;
  bool is_set = false;
  const auto is_met = [&] { return is_set; };
  expect_stopped([&](const std::stop_token& stop) {
    std::unique_lock held(lock);
    return changed.wait(held, stop, is_met);
  });
  expect_stopped([&](const std::stop_token& stop) {
    std::unique_lock held(lock);
    return changed.wait_for(held, stop, 1h, is_met);
  });
  expect_stopped([&](const std::stop_token& stop) { return this_task::sleep_for(stop, 1h); });
  std::stop_source source;
  std::unique_lock held(lock);
  EXPECT_FALSE(changed.wait_for(held, source.get_token(), 1ms, is_met));
  EXPECT_FALSE(changed.wait_until(held, source.get_token(), std::chrono::system_clock::now() - 1s, is_met));
  EXPECT_TRUE(this_task::sleep_until(source.get_token(), std::chrono::steady_clock::now() + 1ms));
  source.request_stop();
  is_set = true;
  EXPECT_TRUE(changed.wait(held, source.get_token(), is_met));
}

TEST_P(stopped_waits, for_channels) {
  channel<std::unique_ptr<int>> line(1);
  expect_stopped([&](const std::stop_token& stop) { return line.receive(stop).has_value(); });
  EXPECT_TRUE(line.send(std::make_unique<int>(1)));
  expect_stopped([&](const std::stop_token& stop) {
    auto kept = std::make_unique<int>(2);
    const bool is_sent = line.send(std::move(kept), stop);
    EXPECT_EQ(*kept, 2);
    return is_sent;
  });
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(*line.receive(source.get_token()).value(), 1);
  EXPECT_TRUE(line.send(std::make_unique<int>(3), source.get_token()));
  line.close();
  EXPECT_EQ(*line.receive(std::stop_token()).value(), 3);
  EXPECT_FALSE(line.receive(std::stop_token()).has_value());
}

TEST_P(stopped_waits, in_tasks_of_graphs_throw) {
  promise<void> unfulfilled;
  const shared_future<void> input = unfulfilled.get_future().share();
  graph tasks_graph(rt);
  tasks_graph.task("waits", [&] { static_cast<void>(input.wait(std::stop_token())); });
  EXPECT_TRUE(contains(thrown_text<graph_error>([&] { tasks_graph.wait(); }), "would wait for a future"));
}

// Permits and values go to those that are not stopped, whoever else stops when.
TEST_P(stopped_waits, pass_on_what_others_wait_for) {
  rt.run([] {
    constexpr int count = 20;
    for (int round = 0; round < 50 / slower; ++round) {
      counting_semaphore<> permits(0);
      channel<int> line(2);
      std::vector<std::stop_source> sources(count);
      std::vector<future<int>> input;
      for (int i = 0; i < count; ++i) {
        input.push_back(async([&, i] {
          const std::stop_token stop = i % 2 == 0 ? sources[static_cast<std::size_t>(i)].get_token() : std::stop_token();
          if (!permits.try_acquire(stop)) return 0;
          const std::optional<int> value = line.receive(stop);
          permits.release();
          return value.value_or(0);
        }));
      }
      future<int> sent = async([&] {
        int sum = 0;
        for (int i = 1; i <= count / 2; ++i) sum += line.send(i) ? i : 0;
        return sum;
      });
      permits.release(3);
      for (int i = 0; i < count; i += 2) async([&, i] { sources[static_cast<std::size_t>(i)].request_stop(); }).get();
      int sum = 0, completed = sent.get();
      // Those that stopped may have taken some, so that others wait: there is enough for all.
      line.close();
      for (future<int>& each : input) sum += each.get();
      while (const std::optional<int> left = line.try_receive()) sum += *left;
      EXPECT_EQ(sum, completed);
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(permits.try_acquire());
      EXPECT_FALSE(permits.try_acquire());
    }
  });
}

}  // namespace
}  // namespace trimtab::tasks

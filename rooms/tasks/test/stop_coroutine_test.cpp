// Coroutines that wait with a stop token: as tasks do, but without a stack that waits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/coroutines/await_future.hpp"
#include "trimtab/tasks/coroutines/coroutine_fork.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::tasks {
namespace {

using namespace std::chrono_literals;

class stopped_coroutines : public on_a_runtime {
 protected:
  // What the coroutine wait(token) gives if stop is requested while it waits, about to wait, or before.
  template <class function>
  void expect_stopped(function&& wait) {
    for (int round = 0; round < 20; ++round) {
      std::stop_source source;
      future<bool> waits = spawn(wait(source.get_token()));
      if (round % 2 == 0) rt.run([] { this_task::yield(); });
      source.request_stop();
      EXPECT_FALSE(waits.get());
      EXPECT_FALSE(spawn(wait(source.get_token())).get());
    }
  }
  // What it gives if stop was requested but what it waits for is there, and if it comes while nobody stops.
  template <class function, class coming>
  void expect_had(function&& wait, coming&& arrival) {
    std::stop_source stopped, second;
    stopped.request_stop();
    arrival();
    EXPECT_TRUE(spawn(wait(stopped.get_token())).get());
    future<bool> waits = spawn(wait(second.get_token()));
    rt.run([] { this_task::yield(); });
    arrival();
    EXPECT_TRUE(waits.get());
  }
};
INSTANTIATE_TEST_SUITE_P(tasks, stopped_coroutines, all_policies({1, 2, 5}), name_of_case);

TEST_P(stopped_coroutines, wait_for_permits_and_locks) {
  counting_semaphore<> permits(0);
  const auto receive = [&](std::stop_token stop) -> co_task<bool> { co_return co_await permits.acquire_async(stop); };
  expect_stopped(receive);
  expect_had(receive, [&] { permits.release(); });
  EXPECT_FALSE(permits.try_acquire());
  mutex lock;
  lock.lock();
  const auto locks = [&](std::stop_token stop) -> co_task<bool> { co_return co_await lock.lock_async(stop); };
  expect_stopped(locks);
  expect_had(locks, [&] { lock.unlock(); });
  EXPECT_FALSE(lock.try_lock());
}

TEST_P(stopped_coroutines, wait_for_latches_and_barriers) {
  latch opens(1);
  const auto waits = [&](std::stop_token stop) -> co_task<bool> { co_return co_await opens.wait_async(stop); };
  expect_stopped(waits);
  opens.count_down();
  expect_had(waits, [] {});
  std::atomic<int> steps{0};
  barrier meeting(2, [&]() noexcept { steps += 1; });
  const auto arrives = [&](std::stop_token stop) -> co_task<bool> {
    co_return co_await meeting.arrive_and_wait_async(stop);
  };
  expect_stopped(arrives);
  EXPECT_EQ(steps.load(), 0);
  expect_had(arrives, [&] { static_cast<void>(meeting.arrive()); });
  EXPECT_EQ(steps.load(), 2);
  future<bool> first_future = spawn(arrives(std::stop_token())), second_future = spawn(arrives(std::stop_token()));
  EXPECT_TRUE(first_future.get() && second_future.get());
}

TEST_P(stopped_coroutines, wait_for_futures_and_times) {
  promise<int> promised;
  const shared_future<int> shared = promised.get_future().share();
  const auto waits = [&](std::stop_token stop) -> co_task<bool> { co_return co_await shared.wait_async(stop); };
  expect_stopped(waits);
  const auto receive = [&](std::stop_token stop) -> co_task<int> { co_return co_await shared.get_async(stop); };
  std::stop_source source;
  source.request_stop();
  // What the exception says is not read: its count of references is the C++ library's, which ThreadSanitizer does not see.
  EXPECT_THROW(spawn(receive(source.get_token())).get(), stopped);
  promise<int> delayed;
  future<int> alone = delayed.get_future();
  const auto next_value = [&](std::stop_token stop) -> co_task<int> { co_return co_await alone.get_async(stop); };
  EXPECT_THROW(spawn(next_value(source.get_token())).get(), stopped);
  promised.set_value(3);
  delayed.set_value(4);
  expect_had(waits, [] {});
  EXPECT_EQ(spawn(receive(source.get_token())).get() + spawn(next_value(source.get_token())).get(), 7);
  EXPECT_FALSE(alone.valid());
  expect_stopped([](std::stop_token stop) -> co_task<bool> { co_return co_await after(stop, 1h); });
  const auto sleeps = [](std::stop_token stop) -> co_task<bool> { co_return co_await after(stop, 1ms); };
  EXPECT_TRUE(spawn(sleeps(std::stop_source().get_token())).get());
  EXPECT_TRUE(spawn(sleeps(std::stop_token())).get());
}

TEST_P(stopped_coroutines, wait_for_channels) {
  channel<std::unique_ptr<int>> line(1);
  const auto receives = [&](std::stop_token stop) -> co_task<bool> {
    const std::optional<std::unique_ptr<int>> received = co_await line.receive_async(stop);
    co_return received.has_value();
  };
  expect_stopped(receives);
  expect_had(receives, [&] { EXPECT_TRUE(line.send(std::make_unique<int>(1))); });
  const auto sends = [&](std::stop_token stop) -> co_task<bool> {
    auto kept = std::make_unique<int>(2);
    const bool is_sent = co_await line.send_async(std::move(kept), stop);
    EXPECT_EQ(kept == nullptr, is_sent);
    if (!is_sent) {
      EXPECT_EQ(*kept, 2);
    }
    co_return is_sent;
  };
  EXPECT_TRUE(line.send(std::make_unique<int>(3)));
  expect_stopped(sends);
  expect_had(sends, [&] { EXPECT_TRUE(line.receive().has_value()); });
  line.close();
  EXPECT_EQ(*line.receive().value(), 2);
  EXPECT_FALSE(spawn(sends(std::stop_token())).get());
  EXPECT_FALSE(spawn(receives(std::stop_token())).get());
}

// Permits go to those that are not stopped, whoever else stops when.
TEST_P(stopped_coroutines, pass_on_what_others_wait_for) {
  const auto receive = [](counting_semaphore<>& permits, std::stop_token stop) -> co_task<int> {
    const bool was_received = co_await permits.acquire_async(stop);
    if (was_received) permits.release();
    co_return was_received ? 1 : 0;
  };
  rt.run([&] {
    constexpr int count = 20;
    for (int round = 0; round < 50 / slower; ++round) {
      counting_semaphore<> permits(0);
      std::vector<std::stop_source> sources(count);
      std::vector<future<int>> input;
      for (std::size_t i = 0; i < count; ++i)
        input.push_back(spawn(receive(permits, i % 2 == 0 ? sources[i].get_token() : std::stop_token())));
      std::vector<future<void>> stops;
      for (std::size_t i = 0; i < count; i += 2) stops.push_back(async([&, i] { sources[i].request_stop(); }));
      permits.release(2);
      int sum = 0;
      for (future<int>& each : input) sum += each.get();
      for (future<void>& stop : stops) stop.get();
      EXPECT_GE(sum, count / 2);
      EXPECT_TRUE(permits.try_acquire() && permits.try_acquire());
      EXPECT_FALSE(permits.try_acquire());
    }
  });
}

}  // namespace
}  // namespace trimtab::tasks

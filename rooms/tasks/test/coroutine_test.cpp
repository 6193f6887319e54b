#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/coroutines/await_future.hpp"
#include "trimtab/tasks/coroutines/coroutine_fork.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::tasks {
namespace {

class coroutines : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, coroutines, all_policies({1, 2, 5}), name_of_case);

co_task<long> co_fib(int n) {
  if (n < 2) co_return n;
  auto a = fork(co_fib(n - 1));
  const long b = co_await co_fib(n - 2);
  const long of_fork = co_await a;
  co_return of_fork + b;
}

TEST_P(coroutines, fork_and_await) {
  EXPECT_EQ(spawn(co_fib(18)).get(), 2584);
  EXPECT_EQ(rt.run([] { return spawn(co_fib(15)).get(); }), 610);
}

co_task<int> return_one() { co_return 1; }
co_task<std::unique_ptr<int>> pointer_to(int value) { co_return std::make_unique<int>(value); }
co_task<int&> itself(int& value) { co_return value; }
co_task<> set(int& value) {
  value = 5;
  co_return;
}

TEST_P(coroutines, values_of_all_kinds) {
  int number = 0;
  spawn(set(number)).get();
  EXPECT_EQ(number, 5);
  EXPECT_EQ(*spawn(pointer_to(3)).get(), 3);
  EXPECT_EQ(&spawn(itself(number)).get(), &number);
}

co_task<long> chain(int length) {
  long sum = 0;
  for (int i = 0; i < length; ++i) sum += co_await return_one();
  co_return sum;
}
co_task<long> nested(int depth) {
  if (depth == 0) co_return 0;
  const long deeper = co_await nested(depth - 1);
  co_return deeper + 1;
}

TEST_P(coroutines, long_chains_and_deep_ones_need_no_stack) {
  EXPECT_EQ(spawn(chain(20'000)).get(), 20'000);
  EXPECT_EQ(spawn(nested(20'000)).get(), 20'000);
}

co_task<int> fails(bool really) {
  if (really) throw std::runtime_error("x");
  co_return 1;
}
co_task<int> passes_on() { co_return co_await fails(true); }
co_task<int> catches() {
  int caught = 0;
  try {
    co_await passes_on();
  } catch (const std::runtime_error&) {
    caught = 7;
  }
  co_return caught;
}
co_task<int> leaves_a_fork(std::atomic<int>& ended) {
  const auto counts = [](std::atomic<int>& counter) -> co_task<> {
    ++counter;
    co_return;
  };
  auto left = fork(counts(ended));
  co_await fails(true);
  co_await left;
  co_return 0;
}

TEST_P(coroutines, exceptions_pass_through) {
  EXPECT_THROW(spawn(passes_on()).get(), std::runtime_error);
  EXPECT_EQ(spawn(catches()).get(), 7);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ended{0};
    EXPECT_THROW(spawn(leaves_a_fork(ended)).get(), std::runtime_error);
    EXPECT_LE(ended.load(), 1);
  }
}

co_task<int> sum_of_futures(shared_future<int> shared) {
  const int first = co_await shared;
  future<int> input = async([] { return 2; });
  const int second = co_await input;
  const int third = co_await async([] { return 3; });
  future<void> failing = async([] { throw std::logic_error("x"); });
  int fourth = 0;
  try {
    co_await failing;
  } catch (const std::logic_error&) {
    fourth = 4;
  }
  co_return first + second + third + fourth;
}

TEST_P(coroutines, futures_are_awaited) {
  promise<int> source;
  shared_future<int> input = source.get_future();
  std::vector<future<int>> futures;
  for (int i = 0; i < 100; ++i) futures.push_back(spawn(sum_of_futures(input)));
  source.set_value(1);
  for (auto& element : futures) EXPECT_EQ(element.get(), 10);
}

co_task<> add(mutex& lock, long& count, latch& barrier_latch) {
  for (int i = 0; i < 20; ++i) {
    co_await lock.lock_async();
    const long previous = count;
    if (i % 5 == 0) co_await after(std::chrono::microseconds(20));
    count = previous + 1;
    lock.unlock();
  }
  barrier_latch.count_down();
  co_await barrier_latch.wait_async();
}

TEST_P(coroutines, wait_for_a_mutex_a_latch_and_time) {
  mutex lock;
  long count = 0;
  latch all_started(20);
  std::vector<future<void>> ends;
  for (int i = 0; i < 20; ++i) ends.push_back(spawn(add(lock, count, all_started)));
  for (auto& element : ends) element.get();
  EXPECT_EQ(count, 400);
}

co_task<> produce(channel<int>& output, counting_semaphore<>& pace) {
  for (int i = 1; i <= 100; ++i) {
    co_await pace.acquire_async();
    const bool is_sent = co_await output.send_async(i);
    EXPECT_TRUE(is_sent);
  }
  output.close();
}
co_task<long> consume(channel<int>& input, counting_semaphore<>& pace) {
  long sum = 0;
  for (;;) {
    const std::optional<int> received = co_await input.receive_async();
    if (!received) break;
    sum += *received;
    pace.release();
  }
  co_return sum;
}

TEST_P(coroutines, wait_for_a_channel_and_a_semaphore) {
  for (const std::size_t capacity : {0u, 2u}) {
    channel<int> line(capacity);
    counting_semaphore<> pace(3);
    auto sum = spawn(consume(line, pace));
    auto created = spawn(produce(line, pace));
    EXPECT_EQ(sum.get(), 5050);
    created.get();
  }
}

TEST_P(coroutines, are_over_before_the_runtime_is) {
  std::atomic<int> ended{0};
  const auto sleeps = [](std::atomic<int>& counter) -> co_task<> {
    co_await after(std::chrono::milliseconds(2));
    ++counter;
  };
  {
    runtime second_runtime({.workers = 2, .policy = rt.policy()});
    second_runtime.run([&] {
      for (int i = 0; i < 50; ++i) spawn(sleeps(ended));
    });
  }
  EXPECT_EQ(ended.load(), 50);
}

// A coroutine of somebody else's kind.
struct foreign {
  struct promise_type {
    foreign get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};
foreign waits_for(shared_future<int> input, promise<int>& result) {
  const int received = co_await input;
  const long extra = co_await co_fib(5);
  result.set_value(received + static_cast<int>(extra));
}

TEST_P(coroutines, futures_and_tasks_can_be_awaited_by_other_coroutines) {
  promise<int> source, result;
  waits_for(source.get_future(), result);
  source.set_value(4);
  EXPECT_EQ(result.get_future().get(), 9);
  promise<int> of_ready;
  waits_for(make_ready_future(1), of_ready);
  EXPECT_EQ(of_ready.get_future().get(), 6);
}

// What is awaited may be of any kind, and resume who waits at once, on any thread: while that is still on its way out.
class others_thread {
 public:
  others_thread()
      : m_thread([this] {
          for (std::optional<std::coroutine_handle<>> next; (next = m_handles.receive());) next->resume();
        }) {}
  ~others_thread() {
    m_handles.close();
    m_thread.join();
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) { m_handles.send(coroutine); }
  void await_resume() const noexcept {}

 private:
  channel<std::coroutine_handle<>> m_handles{64};
  std::thread m_thread;
};
struct by_member {
  others_thread& executor;
  others_thread& operator co_await() const noexcept { return executor; }
};
struct by_operator {
  others_thread& executor;
};
struct awaits_in_place {
  explicit awaits_in_place(others_thread& other_thread) : executor(other_thread) {}
  awaits_in_place(const awaits_in_place&) = delete;
  awaits_in_place& operator=(const awaits_in_place&) = delete;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) { executor.await_suspend(coroutine); }
  std::unique_ptr<int> await_resume() const { return std::make_unique<int>(1); }
  others_thread& executor;
};
awaits_in_place operator co_await(by_operator source) { return awaits_in_place(source.executor); }

co_task<int> goes_elsewhere(others_thread& other_thread, int turn) {
  if (turn % 3 == 0) co_await other_thread;
  if (turn % 3 == 1) co_await by_member{other_thread};
  if (turn % 3 == 2) co_return *co_await by_operator{other_thread};
  co_return 1;
}
co_task<int> calls_and_forks(others_thread& other_thread) {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    auto forked = fork(goes_elsewhere(other_thread, i));
    sum += co_await goes_elsewhere(other_thread, i + 1);
    sum += co_await forked;
  }
  co_return sum;
}

TEST_P(coroutines, are_resumed_by_others_while_they_are_set_aside) {
  others_thread other_thread;
  EXPECT_EQ(spawn(calls_and_forks(other_thread)).get(), 2000);
}

TEST(coroutine, not_awaited_is_not_begun) {
  bool is_run = false;
  const auto runs = [](bool& flag) -> co_task<> {
    flag = true;
    co_return;
  };
  {
    const co_task<> unused = runs(is_run);
  }
  EXPECT_FALSE(is_run);
}

}  // namespace
}  // namespace trimtab::tasks

#include "trimtab/tasks/futures/future.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "on_policies.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

class futures : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, futures, all_policies({1, 2, 5}), name_of_case);

long async_fib(int n) {
  if (n < 2) return n;
  future<long> a = async(async_fib, n - 1);
  const long b = async_fib(n - 2);
  return a.get() + b;
}

TEST_P(futures, fib_of_futures) {
  EXPECT_EQ(rt.run([] { return async_fib(18); }), 2584);
}

TEST_P(futures, from_outside) {
  future<int> a = async([] { return 3; });
  future<std::string> b = async([](int x, const std::string& y) { return std::to_string(x) + y; }, 4, "five");
  EXPECT_EQ(a.get(), 3);
  EXPECT_EQ(b.get(), "4five");
  EXPECT_FALSE(a.valid());
}

TEST_P(futures, exceptions_pass_through) {
  EXPECT_THROW(async([]() -> int { throw std::logic_error("x"); }).get(), std::logic_error);
  rt.run([] {
    future<void> failing = async([] { throw std::logic_error("x"); });
    EXPECT_THROW(failing.get(), std::logic_error);
    auto continuation =
        async([]() -> int { throw std::runtime_error("first"); }).then([](future<int> input) { return input.get() + 1; });
    EXPECT_THROW(continuation.get(), std::runtime_error);
  });
}

TEST_P(futures, a_chain_of_continuations) {
  const int last = rt.run([] {
    future<int> chain = make_ready_future(0);
    for (int i = 0; i < 1000; ++i) chain = chain.then([](future<int> input) { return input.get() + 1; });
    return chain.get();
  });
  EXPECT_EQ(last, 1000);
}

TEST_P(futures, dataflow_waits_for_all) {
  const int sum = rt.run([] {
    std::vector<shared_future<int>> row;
    for (int i = 0; i < 8; ++i) row.push_back(async([i] { return i; }));
    for (int step = 0; step < 50; ++step) {
      std::vector<shared_future<int>> next;
      for (std::size_t i = 0; i < row.size(); ++i)
        next.push_back(dataflow(unwrapping([](int a, int b, int c) { return (a + b + c) % 1000; }), row[(i + 7) % 8], row[i],
                                row[(i + 1) % 8]));
      row = std::move(next);
    }
    return dataflow(unwrapping([](const std::vector<int>& values) {
                      int total_of_calls = 0;
                      for (const int element : values) total_of_calls += element;
                      return total_of_calls;
                    }),
                    std::move(row))
        .get();
  });
  std::vector<int> row{0, 1, 2, 3, 4, 5, 6, 7};
  for (int step = 0; step < 50; ++step) {
    std::vector<int> next;
    for (std::size_t i = 0; i < 8; ++i) next.push_back((row[(i + 7) % 8] + row[i] + row[(i + 1) % 8]) % 1000);
    row = next;
  }
  int expected = 0;
  for (const int element : row) expected += element;
  EXPECT_EQ(sum, expected);
}

TEST_P(futures, tasks_that_wait_for_a_promise_of_another_thread) {
  promise<int> source;
  shared_future<int> input = source.get_future();
  std::atomic<int> waiting{0};
  std::vector<future<int>> waiters;
  for (int i = 0; i < 50; ++i)
    waiters.push_back(async([&, input, i] {
      ++waiting;
      return input.get() + i;
    }));
  while (waiting.load() != 50) std::this_thread::yield();
  source.set_value(1);
  int sum = 0;
  for (future<int>& waiter : waiters) sum += waiter.get();
  EXPECT_EQ(sum, 50 + 1225);
}

TEST_P(futures, a_future_of_a_future_is_that_future) {
  future<int> inner = async([] { return async([] { return 7; }); });
  EXPECT_EQ(inner.get(), 7);
  future<int> failing = async([]() -> future<int> { throw std::logic_error("outer"); });
  EXPECT_THROW(failing.get(), std::logic_error);
}

TEST_P(futures, priorities_and_hints_do_not_lose_tasks) {
  std::atomic<int> runs{0};
  rt.run([&] {
    std::vector<future<void>> pending;
    for (int i = 0; i < 600; ++i)
      pending.push_back(async(task_options{.level = static_cast<priority>(i % 3), .worker = i % 7 - 1}, [&] { ++runs; }));
    for (auto& element : pending) element.get();
  });
  EXPECT_EQ(runs.load(), 600);
}

TEST_P(futures, posted_tasks_end_before_the_runtime) {
  std::atomic<int> runs{0};
  {
    runtime second_runtime({.workers = 2, .policy = rt.policy()});
    second_runtime.run([&] {
      for (int i = 0; i < 1000; ++i) post([&] { post([&] { ++runs; }); });
    });
  }
  EXPECT_EQ(runs.load(), 1000);
}

TEST(promise, as_the_standard_says) {
  promise<int> first_promise;
  future<int> first = first_promise.get_future();
  EXPECT_THROW(first_promise.get_future(), std::future_error);
  EXPECT_FALSE(first.ready());
  first_promise.set_value(1);
  EXPECT_THROW(first_promise.set_value(2), std::future_error);
  EXPECT_TRUE(first.ready());
  EXPECT_EQ(first.get(), 1);
  EXPECT_THROW(first.get(), std::future_error);
  future<int> broken;
  {
    promise<int> abandoned;
    broken = abandoned.get_future();
  }
  EXPECT_THROW(broken.get(), std::future_error);
  int target = 0;
  promise<int&> reference;
  reference.set_value(target);
  reference.get_future().get() = 5;
  EXPECT_EQ(target, 5);
  EXPECT_EQ(*make_ready_future(std::make_unique<int>(4)).get(), 4);
}

TEST(stop_tokens, a_task_that_has_not_begun_is_not_run) {
  runtime rt({.workers = 1});
  std::stop_source source;
  bool is_run = false;
  future<void> late = rt.run([&] {
    auto created = async(source.get_token(), [&] { is_run = true; });
    source.request_stop();
    return created;
  });
  EXPECT_THROW(late.get(), stopped);
  EXPECT_FALSE(is_run);
}

// Under this policy nobody takes what is another's, so that the hint must have come through.
TEST(hints, continuations_and_dataflow_go_where_they_are_told) {
  runtime rt({.workers = 3, .policy = policy::static_priority});
  const auto number = [](auto&&...) { return worker::current()->number(); };
  for (std::int32_t index = 0; index < 3; ++index) {
    promise<void> source;
    shared_future<void> awaited = source.get_future();
    auto [after, flow, made] = rt.run([&] {
      return std::tuple(awaited.then({.worker = index}, number), dataflow({.worker = index}, number, awaited, 1),
                        async({.worker = index}, number));
    });
    source.set_value();
    EXPECT_EQ(after.get(), static_cast<std::uint32_t>(index));
    EXPECT_EQ(flow.get(), static_cast<std::uint32_t>(index));
    EXPECT_EQ(made.get(), static_cast<std::uint32_t>(index));
  }
}

}  // namespace
}  // namespace trimtab::tasks

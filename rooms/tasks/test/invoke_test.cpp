#include "trimtab/tasks/core/invoke.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

#include "support.hpp"

namespace trimtab::tasks {
namespace {

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

std::uint64_t times_forked(const runtime& rt) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < rt.workers(); ++i) sum += rt.counters(i).in_place.get() + rt.counters(i).started.get();
  return sum;
}

class with_workers : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(tasks, with_workers, ::testing::Values(1, 2, 3, 8));

TEST_P(with_workers, fib_is_right_and_every_fork_is_counted) {
  runtime rt({GetParam()});
  EXPECT_EQ(rt.workers(), GetParam());
  EXPECT_EQ(rt.run([] { return fib(20); }), 6765);
  EXPECT_EQ(times_forked(rt), 10945u + 1);  // inner nodes of fib's tree, and what run() submitted
}

TEST_P(with_workers, more_than_two_run_once_each) {
  runtime rt({GetParam()});
  for (int round = 0; round < 300; ++round) {
    int runs[5] = {};
    rt.run(
        [&] { invoke([&] { ++runs[0]; }, [&] { ++runs[1]; }, [&] { ++runs[2]; }, [&] { ++runs[3]; }, [&] { ++runs[4]; }); });
    EXPECT_EQ(std::accumulate(std::begin(runs), std::end(runs), 0), 5);
    EXPECT_EQ(*std::min_element(std::begin(runs), std::end(runs)), 1);
  }
}

TEST_P(with_workers, the_first_exception_leaves_when_all_that_began_is_done) {
  runtime rt({GetParam()});
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> active{0};
    const auto fails = [&](const char* label) {
      active.fetch_add(1);
      active.fetch_sub(1);
      throw std::runtime_error(label);
    };
    try {
      rt.run([&] { invoke([&] { fails("first"); }, [&] { fails("second"); }); });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("first"));
    }
    EXPECT_EQ(active.load(), 0);
    EXPECT_THROW(rt.run([&] { invoke([] {}, [&] { fails("second"); }); }), std::runtime_error);
  }
}

// Sums a range by halves, each half a task, down to single elements: left-deep and right-deep trees too.
long sum(const std::vector<int>& values, std::size_t low, std::size_t high, std::size_t cut) {
  if (high - low == 1) return values[low];
  const std::size_t middle = low + std::max<std::size_t>(1, (high - low) / cut);
  long a = 0, b = 0;
  invoke([&] { a = sum(values, low, middle, cut); }, [&] { b = sum(values, middle, high, cut); });
  return a + b;
}

TEST_P(with_workers, trees_of_any_shape_are_right) {
  runtime rt({GetParam()});
  std::vector<int> numbers(20'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::size_t cut : {2u, 3u, 1000u})
    EXPECT_EQ(rt.run([&] { return sum(numbers, 0, numbers.size(), cut); }), 199'990'000);
}

int depth_of(int left) {
  if (left == 0) return 0;
  int deeper = 0;
  invoke([&] { deeper = depth_of(left - 1); }, [] {});
  return deeper + 1;
}

TEST(runtime, recursion_goes_on_at_another_stack_where_one_ends) {
  runtime rt({2});
  EXPECT_EQ(rt.run([] { return depth_of(100'000); }), 100'000);
}

TEST(runtime, invoke_on_no_worker_calls_one_after_the_other) {
  std::string order;
  invoke([&] { order += 'a'; }, [&] { order += 'b'; }, [&] { order += 'c'; });
  EXPECT_EQ(order, "abc");
}

TEST(runtime, run_within_run_is_a_call_and_gives_back_anything) {
  runtime rt({2});
  EXPECT_EQ(rt.run([&] { return rt.run([] { return std::string("inner"); }); }), "inner");
  EXPECT_EQ(*rt.run([] { return std::make_unique<int>(3); }), 3);
  EXPECT_THROW(rt.run([] { throw std::logic_error("out"); }), std::logic_error);
}

TEST(runtime, two_in_one_process_and_many_callers) {
  runtime first_runtime({2}), two({2});
  std::vector<std::thread> callers;
  std::atomic<long> sum_of_all{0};
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) sum_of_all += (i % 2 == 0 ? first_runtime : two).run([] { return fib(10); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum_of_all.load(), 6 * 50 * 55);
  EXPECT_EQ(two.run([&] { return first_runtime.run([] { return fib(12); }); }), 144);
}

TEST(runtime, comes_and_goes) {
  for (int round = 0; round < 100; ++round) {
    runtime rt({3});
    if (round % 2 == 0) {
      EXPECT_EQ(rt.run([] { return fib(8); }), 21);
    }
  }
}

TEST(runtime, sleeps_when_there_is_nothing_to_do_and_wakes_again) {
  runtime rt({4});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(rt.run([] { return fib(15); }), 610);
    EXPECT_TRUE(comes_to_rest(std::chrono::milliseconds(400), std::chrono::milliseconds(40)));
  }
  EXPECT_GE(times_parked(rt), 4u);
}

// A forker whose task was stolen and takes long sleeps as well, and is woken by its thief.
TEST(runtime, who_waits_for_a_thief_is_woken) {
  runtime rt({2});
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> is_stolen{false};
    rt.run([&] {
      invoke(
          [&] {
            while (!is_stolen.load()) std::this_thread::yield();
          },
          [&] {
            is_stolen.store(true);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          });
    });
  }
  EXPECT_GE(times_forked(rt), 20u);
}

}  // namespace
}  // namespace trimtab::tasks

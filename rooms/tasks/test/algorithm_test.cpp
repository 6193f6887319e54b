#include "trimtab/tasks/algorithms/algorithm.hpp"

#include <gtest/gtest.h>

#include <forward_list>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "on_policies.hpp"

namespace trimtab::tasks {
namespace {

const chunking all_chunkings[] = {adaptive_chunks{}, static_chunks{},     static_chunks{7},
                                  dynamic_chunks{},  dynamic_chunks{100}, guided_chunks{},
                                  guided_chunks{50}, ordered_chunks{},    ordered_chunks{30}};
constexpr int lengths[] = {0, 1, 3, 17, 300, 4321};

class algorithms : public on_a_runtime {
 protected:
  // Each way to call an algorithm.
  template <class function>
  void each_way(function&& f) {
    for (const chunking& shape : all_chunkings)
      for (const int length : lengths) rt.run([&] { f(shape, length); });
  }
};
INSTANTIATE_TEST_SUITE_P(tasks, algorithms, all_policies({1, 2, 5}), name_of_case);

// Long enough for others to take part.
void work(int amount) {
  volatile int sink = 0;
  for (int i = 0; i < amount; ++i) sink = sink + i;
}

TEST_P(algorithms, a_loop_calls_each_index_once) {
  each_way([](const chunking& chunks, int length) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(length) + 5);
    for_loop(chunks, 5, length + 5, [&](int i) {
      work(i % 100);
      calls[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
    });
    for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i].load(), i < 5 ? 0 : 1) << i;
  });
}

TEST_P(algorithms, for_each_and_transform_reach_every_element) {
  each_way([](const chunking& chunks, int length) {
    std::vector<int> numbers(static_cast<std::size_t>(length));
    std::iota(numbers.begin(), numbers.end(), 0);
    EXPECT_EQ(for_each(chunks, numbers.begin(), numbers.end(), [](int& element) { element *= 2; }), numbers.end());
    std::forward_list<int> list(numbers.size());
    transform(chunks, numbers.begin(), numbers.end(), list.begin(), [](int element) { return element + 1; });
    std::vector<long> sums(numbers.size());
    EXPECT_EQ(transform(chunks, list.begin(), list.end(), numbers.begin(), sums.begin(), std::plus<>()), sums.end());
    for (int i = 0; i < length; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 4L * i + 1);
  });
}

TEST_P(algorithms, reduce_combines_in_order) {
  each_way([](const chunking& chunks, int length) {
    std::vector<std::string> words;
    std::string expected = "<";
    for (int i = 0; i < length; ++i) expected += words.emplace_back(std::to_string(i) + ",");
    EXPECT_EQ(reduce(chunks, words.begin(), words.end(), std::string("<"), std::plus<>()), expected);
    const std::forward_list<std::string> list(words.begin(), words.end());
    EXPECT_EQ(transform_reduce(chunks, list.begin(), list.end(), std::size_t{1}, std::plus<>(),
                               [](const std::string& name) { return name.size(); }),
              expected.size());
    std::vector<long> numbers(static_cast<std::size_t>(length), 2);
    EXPECT_EQ(tasks::transform_reduce(numbers.begin(), numbers.end(), numbers.begin(), 3L), 3 + 4L * length);
  });
}

TEST_P(algorithms, scans_are_those_of_the_standard_library) {
  each_way([](const chunking& chunks, int length) {
    std::vector<std::string> words;
    for (int i = 0; i < length % 500; ++i) words.push_back(std::to_string(i % 10));
    std::vector<std::string> expected(words.size()), result(words.size());
    std::inclusive_scan(words.begin(), words.end(), expected.begin(), std::plus<>());
    EXPECT_EQ(inclusive_scan(chunks, words.begin(), words.end(), result.begin()), result.end());
    EXPECT_EQ(result, expected);
    std::exclusive_scan(words.begin(), words.end(), expected.begin(), std::string("<"), std::plus<>());
    exclusive_scan(chunks, words.begin(), words.end(), words.begin(), std::string("<"));
    EXPECT_EQ(words, expected);
    std::vector<long> numbers(static_cast<std::size_t>(length), 3);
    inclusive_scan(
        chunks, numbers.begin(), numbers.end(), numbers.begin(),
        [](long a, long b) {
          work(50);
          return a + b;
        },
        10L);
    for (int i = 0; i < length; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], 10 + 3L * (i + 1));
  });
}

TEST_P(algorithms, the_first_exception_leaves_when_all_that_began_have_ended) {
  each_way([](const chunking& chunks, int length) {
    if (length == 0) return;
    std::atomic<int> active{0};
    const auto fails = [&](int i) {
      active.fetch_add(1);
      work(i % 200);
      active.fetch_sub(1);
      if (i == length / 2) throw std::runtime_error("half");
    };
    EXPECT_THROW(for_loop(chunks, 0, length, fails), std::runtime_error);
    EXPECT_EQ(active.load(), 0);
    std::vector<int> numbers(static_cast<std::size_t>(length));
    std::iota(numbers.begin(), numbers.end(), 0);
    if (length > 3) {
      EXPECT_THROW(
          reduce(chunks, numbers.begin(), numbers.end(), 0, [](int, int) -> int { throw std::logic_error("never"); }),
          std::logic_error);
    }
  });
}

TEST_P(algorithms, stop_before_and_in_the_middle) {
  each_way([](const chunking& chunks, int length) {
    std::stop_source source;
    std::atomic<int> calls{0};
    const auto wait_for = [&](int) {
      if (calls.fetch_add(1) == 40) source.request_stop();
      work(100);
    };
    if (length > 3000 && chunks.strategy() != chunking::kind::fixed) {
      EXPECT_THROW(for_loop(loop_options{.chunks = chunks, .stop = source.get_token()}, 0, length, wait_for), stopped);
    }
    source.request_stop();
    calls = 0;
    if (length != 0) {
      EXPECT_THROW(for_loop(loop_options{.chunks = chunks, .stop = source.get_token()}, 0, length, wait_for), stopped);
    }
    EXPECT_EQ(calls.load(), 0);
  });
}

TEST_P(algorithms, nested_and_while_other_tasks_wait) {
  const long sum = rt.run([] {
    std::atomic<long> total{0};
    for_loop(0, 20, [&](int i) {
      for_loop(dynamic_chunks{3}, 0, 20, [&](int j) {
        future<int> created = async([=] { return i * j; });
        total += created.get();
      });
    });
    return total.load();
  });
  EXPECT_EQ(sum, 190 * 190);
}

TEST_P(algorithms, ordered_sums_are_the_same_bit_by_bit) {
  std::mt19937_64 random(3);
  std::vector<double> numbers(40'000);
  for (double& element : numbers) element = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60) - 90);
  runtime alone({.workers = 1});
  const auto sum = [&] { return reduce(ordered_chunks{}, numbers.begin(), numbers.end(), 0.0); };
  const double expected = alone.run(sum);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(rt.run(sum), expected);
}

TEST(algorithm, from_a_thread_that_is_no_worker) {
  std::vector<int> numbers(100'000, 1);
  std::atomic<bool> runs_outside{false};
  for_loop(std::size_t{0}, numbers.size(), [&](std::size_t i) {
    numbers[i] += static_cast<int>(i);
    if (worker::current() == nullptr) runs_outside = true;
  });
  EXPECT_FALSE(runs_outside.load());
  EXPECT_EQ(tasks::reduce(numbers.begin(), numbers.end(), 0L), 100'000L + 99'999L * 50'000);
}

TEST(algorithm, whole_ranges_of_integers_and_empty_ones) {
  std::atomic<int> calls{0};
  for_loop(dynamic_chunks{10}, std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t) { ++calls; });
  EXPECT_EQ(calls.load(), 255);
  for_loop(5, 3, [&](int) { ++calls; });
  EXPECT_EQ(calls.load(), 255);
}

TEST(algorithm, chunks_of_no_size_are_refused) {
  EXPECT_THROW(for_loop(dynamic_chunks{0}, 0, 5, [](int) {}), std::invalid_argument);
  EXPECT_THROW(for_loop(guided_chunks{0}, 0, 5, [](int) {}), std::invalid_argument);
}

TEST(algorithm, others_take_part_in_a_long_loop) {
  runtime rt({.workers = 4});
  for (const chunking& shape : all_chunkings) {
    std::atomic<unsigned> observed{0};
    const auto is_shared = [&] { return (observed.load() & (observed.load() - 1)) != 0; };
    // However busy the machine is, some time another worker comes.
    while (!is_shared())
      rt.run([&] {
        for_loop(shape, 0, 2000, [&](int) {
          work(1000);
          observed.fetch_or(1u << worker::current()->number());
        });
      });
  }
}

}  // namespace
}  // namespace trimtab::tasks

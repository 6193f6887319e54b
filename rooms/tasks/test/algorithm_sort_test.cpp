#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "on_policies.hpp"
#include "trimtab/tasks/algorithms/sort.hpp"

namespace trimtab::tasks {
namespace {

// Inputs that have made sorts slow or wrong.
const char* const shapes[] = {"random",     "sorted",     "reversed", "equal",
                              "two values", "organ pipe", "sawtooth", "nearly sorted"};

std::vector<int> input(const std::string& shape, int length) {
  std::mt19937 random(5);
  std::vector<int> created;
  for (int i = 0; i < length; ++i) {
    if (shape == "random") created.push_back(static_cast<int>(random()));
    if (shape == "sorted" || shape == "nearly sorted") created.push_back(i);
    if (shape == "reversed") created.push_back(length - i);
    if (shape == "equal") created.push_back(3);
    if (shape == "two values") created.push_back(static_cast<int>(random() % 2));
    if (shape == "organ pipe") created.push_back(std::min(i, length - i));
    if (shape == "sawtooth") created.push_back(i % 100);
  }
  if (shape == "nearly sorted")
    for (int i = 0; i < length / 50; ++i) std::swap(created[random() % created.size()], created[random() % created.size()]);
  return created;
}

class sorts : public on_a_runtime {};
INSTANTIATE_TEST_SUITE_P(tasks, sorts, policies_with({policy::local_priority, policy::static_priority}, {1, 2, 3}),
                         name_of_case);

TEST_P(sorts, every_shape_and_length) {
  for (const char* const shape : shapes)
    for (const int length : {0, 1, 2, 1999, 2000, 2001, 50'000}) {
      std::vector<int> result = input(shape, length), expected = result;
      std::sort(expected.begin(), expected.end());
      rt.run([&] { tasks::sort(result.begin(), result.end()); });
      EXPECT_EQ(result, expected) << shape << " " << length;
    }
}

TEST_P(sorts, stable_ones_keep_the_order_of_equals) {
  for (const char* const shape : shapes) {
    std::vector<std::pair<int, int>> result, expected;
    for (const int element : input(shape, 40'000)) result.emplace_back(element % 50, static_cast<int>(result.size()));
    expected = result;
    const auto compare_keys = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::stable_sort(expected.begin(), expected.end(), compare_keys);
    rt.run([&] { tasks::stable_sort(result.begin(), result.end(), compare_keys); });
    EXPECT_EQ(result, expected) << shape;
  }
}

// Neither copied nor made from nothing, and with memory of its own, so that leaks and double ends are seen.
struct only_moved {
  explicit only_moved(int first) : value(std::make_unique<int>(first)) {}
  std::unique_ptr<int> value;
};

TEST_P(sorts, values_that_can_only_be_moved) {
  std::vector<only_moved> values;
  for (const int element : input("random", 30'000)) values.emplace_back(element);
  rt.run([&] {
    tasks::sort(values.begin(), values.end(), [](const only_moved& a, const only_moved& b) { return *a.value < *b.value; });
  });
  for (std::size_t i = 1; i < values.size(); ++i) ASSERT_LE(*values[i - 1].value, *values[i].value);
}

TEST_P(sorts, what_a_comparison_throws_leaves) {
  std::vector<int> values = input("random", 30'000);
  std::atomic<int> left{30'000 * 12};
  const auto throws = [&](int a, int b) {
    if (left.fetch_sub(1) < 0) throw std::runtime_error("enough");
    return a < b;
  };
  EXPECT_THROW(rt.run([&] { tasks::stable_sort(values.begin(), values.end(), throws); }), std::runtime_error);
}

TEST_P(sorts, stop) {
  std::stop_source source;
  source.request_stop();
  std::vector<int> values = input("reversed", 30'000);
  EXPECT_THROW(rt.run([&] { tasks::sort(loop_options{.stop = source.get_token()}, values.begin(), values.end()); }),
               stopped);
  EXPECT_EQ(values, input("reversed", 30'000));
}

}  // namespace
}  // namespace trimtab::tasks

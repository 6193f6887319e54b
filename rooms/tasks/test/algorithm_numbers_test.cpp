// Sorts of numbers, which take a way of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "trimtab/tasks/algorithms/sort.hpp"

namespace trimtab::tasks {
namespace {

// Inputs that have made quicksorts slow or wrong.
const char* const number_shapes[] = {"random",     "rising", "falling", "equal",    "few values",
                                     "organ pipe", "saw",    "steps",   "one large"};

template <class value>
std::vector<value> input(const std::string& shape, std::size_t length) {
  std::mt19937_64 random(11);
  std::vector<value> created(length);
  for (std::size_t i = 0; i < length; ++i) {
    std::uint64_t index = random();
    if (shape == "rising") index = i;
    if (shape == "falling") index = length - i;
    if (shape == "equal") index = 3;
    if (shape == "few values") index %= 5;
    if (shape == "organ pipe") index = std::min(i, length - i);
    if (shape == "saw") index = i % 77;
    if (shape == "steps") index = i / 500;
    if (shape == "one large") index = i == length / 3 ? 1000 : 1;
    created[i] = static_cast<value>(index);
  }
  return created;
}

template <class value>
class sorts_of : public ::testing::Test {
 protected:
  template <class compare>
  void each_shape(compare subtrahend) {
    for (const std::uint32_t workers : {1u, 3u}) {
      runtime rt({.workers = workers});
      for (const char* const shape : number_shapes)
        for (const std::size_t length : {0u, 1u, 2u, 23u, 25u, 600u, 3'999u, 4'000u, 20'001u}) {
          const std::vector<value> source = input<value>(shape, length);
          std::vector<value> expected = source, result = source, stable = source;
          std::sort(expected.begin(), expected.end(), subtrahend);
          rt.run([&] {
            tasks::sort(result.begin(), result.end(), subtrahend);
            tasks::stable_sort(stable.data(), stable.data() + length, subtrahend);
          });
          ASSERT_EQ(result, expected) << shape << " " << length;
          ASSERT_EQ(stable, expected) << shape << " " << length;
        }
    }
  }
};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
using numbers = ::testing::Types<std::uint8_t, std::uint64_t, double>;  // each takes half a minute to compile with these
#else
using numbers = ::testing::Types<std::uint8_t, std::int16_t, int, std::uint64_t, float, double>;
#endif
TYPED_TEST_SUITE(sorts_of, numbers);

TYPED_TEST(sorts_of, every_shape_and_length_rising_and_falling) {
  this->each_shape(std::less<>());
  this->each_shape(std::greater<TypeParam>());
}

// What is no number is less than nothing and greater than nothing: there is no order, but nothing may be lost.
TEST(sort_of_numbers, loses_none_of_what_is_not_a_number) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt({.workers = workers});
    for (const unsigned share : {1u, 2u, 10u}) {
      std::vector<double> values = input<double>("random", 50'000);
      std::size_t expected = 0;
      for (std::size_t i = 0; i < values.size(); i += share, ++expected)
        values[i] = std::numeric_limits<double>::quiet_NaN();
      for (double& element : values)
        if (!std::isnan(element)) element = std::fmod(element, 5);
      double left_sum = 0, right_sum = 0;
      for (const double element : values) left_sum += std::isnan(element) ? 0 : std::floor(element);
      rt.run([&] { tasks::sort(values.begin(), values.end()); });
      for (const double element : values) right_sum += std::isnan(element) ? 0 : std::floor(element);
      EXPECT_EQ(std::count_if(values.begin(), values.end(), [](double element) { return std::isnan(element); }),
                static_cast<std::ptrdiff_t>(expected));
      EXPECT_EQ(left_sum, right_sum);
    }
  }
}

// A pattern against the median of nine: the depth is bounded all the same.
TEST(sort_of_numbers, of_a_bad_pattern_ends_in_order) {
  // Each pivot that is looked at is among the least there are left (after McIlroy, 1999).
  constexpr int count = 20'000;
  std::vector<int> order(count);
  const int gas = count;
  std::vector<int> value_of(count, gas);
  int solid = 0, candidate = 0;
  for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    auto& x = value_of[static_cast<std::size_t>(a)];
    auto& y = value_of[static_cast<std::size_t>(b)];
    if (x == gas && y == gas) (a == candidate ? x : y) = solid++;
    if (x == gas)
      candidate = a;
    else if (y == gas)
      candidate = b;
    return x < y;
  });
  std::vector<int> expected = value_of;
  std::sort(expected.begin(), expected.end());
  runtime rt({.workers = 1});
  rt.run([&] { tasks::sort(value_of.begin(), value_of.end()); });
  EXPECT_EQ(value_of, expected);
}

}  // namespace
}  // namespace trimtab::tasks

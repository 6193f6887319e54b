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
  std::vector<value> made(length);
  for (std::size_t i = 0; i < length; ++i) {
    std::uint64_t at = random();
    if (shape == "rising") at = i;
    if (shape == "falling") at = length - i;
    if (shape == "equal") at = 3;
    if (shape == "few values") at %= 5;
    if (shape == "organ pipe") at = std::min(i, length - i);
    if (shape == "saw") at = i % 77;
    if (shape == "steps") at = i / 500;
    if (shape == "one large") at = i == length / 3 ? 1000 : 1;
    made[i] = static_cast<value>(at);
  }
  return made;
}

template <class value>
class sorts_of : public ::testing::Test {
 protected:
  template <class compare>
  void each_shape(compare less) {
    for (const std::uint32_t workers : {1u, 3u}) {
      runtime here({.workers = workers});
      for (const char* const shape : number_shapes)
        for (const std::size_t length : {0u, 1u, 2u, 23u, 25u, 600u, 3'999u, 4'000u, 20'001u}) {
          const std::vector<value> from = input<value>(shape, length);
          std::vector<value> expected = from, found = from, stable = from;
          std::sort(expected.begin(), expected.end(), less);
          here.run([&] {
            tasks::sort(found.begin(), found.end(), less);
            tasks::stable_sort(stable.data(), stable.data() + length, less);
          });
          ASSERT_EQ(found, expected) << shape << " " << length;
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
    runtime here({.workers = workers});
    for (const unsigned share : {1u, 2u, 10u}) {
      std::vector<double> values = input<double>("random", 50'000);
      std::size_t expected = 0;
      for (std::size_t i = 0; i < values.size(); i += share, ++expected)
        values[i] = std::numeric_limits<double>::quiet_NaN();
      for (double& each : values)
        if (!std::isnan(each)) each = std::fmod(each, 5);
      double before = 0, after = 0;
      for (const double each : values) before += std::isnan(each) ? 0 : std::floor(each);
      here.run([&] { tasks::sort(values.begin(), values.end()); });
      for (const double each : values) after += std::isnan(each) ? 0 : std::floor(each);
      EXPECT_EQ(std::count_if(values.begin(), values.end(), [](double each) { return std::isnan(each); }),
                static_cast<std::ptrdiff_t>(expected));
      EXPECT_EQ(before, after);
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
  runtime here({.workers = 1});
  here.run([&] { tasks::sort(value_of.begin(), value_of.end()); });
  EXPECT_EQ(value_of, expected);
}

}  // namespace
}  // namespace trimtab::tasks

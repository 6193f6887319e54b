#include "trimtab/diagnosis/columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace trimtab::diagnosis {
namespace {

std::vector<std::int64_t> ordered(const std::vector<std::uint64_t>& keys) {
  std::vector<std::int64_t> order(keys.size());
  order_of(keys, order);
  return order;
}

std::vector<std::int64_t> expected_order(const std::vector<std::uint64_t>& keys) {
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t row) { return keys[static_cast<std::size_t>(row)]; });
  return order;
}

TEST(columns, no_rows_and_one_row_have_an_order) {
  EXPECT_EQ(ordered({}), (std::vector<std::int64_t>{}));
  EXPECT_EQ(ordered({7}), (std::vector<std::int64_t>{0}));
}

TEST(columns, equal_keys_stay_as_they_are) {
  EXPECT_EQ(ordered({2, 1, 2, 1, 0}), (std::vector<std::int64_t>{4, 1, 3, 0, 2}));
}

TEST(columns, few_values_are_numbered) {
  std::vector<std::int64_t> places(7);
  constexpr std::int64_t large = std::int64_t{1} << 62;
  const auto values = number_few(std::vector<std::int64_t>{5, -1, 5, large, -1, 0, large}, places, 4);
  EXPECT_EQ(values, (std::vector<std::int64_t>{-1, 0, 5, large}));
  EXPECT_EQ(places, (std::vector<std::int64_t>{2, 0, 2, 3, 0, 1, 3}));
  EXPECT_FALSE(number_few(std::vector<std::int64_t>{5, -1, 5, large, -1, 0, large}, places, 3));
  EXPECT_EQ(number_few({}, {}, 0), std::vector<std::int64_t>{});
}

TEST(columns, many_few_values_are_numbered) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> values(1000), places(values.size());
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 100) << random() % 3 * 20;
    std::vector<std::int64_t> expected = values;
    std::ranges::sort(expected);
    expected.erase(std::ranges::unique(expected).begin(), expected.end());
    ASSERT_EQ(number_few(values, places, values.size()), expected) << seed;
    for (std::size_t row = 0; row < values.size(); ++row)
      ASSERT_EQ(expected[static_cast<std::size_t>(places[row])], values[row]) << seed;
  }
}

TEST(columns, the_order_is_that_of_a_stable_sort) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(seed);
    const unsigned shift = static_cast<unsigned>(random() % 64);
    std::vector<std::uint64_t> keys(random() % 3000);
    for (std::uint64_t& key : keys) key = random() >> shift << random() % (shift + 1);
    EXPECT_EQ(ordered(keys), expected_order(keys));
  }
}

TEST(columns, the_first_row_is_that_of_a_look_at_each) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(seed);
    std::vector<std::int64_t> time, first{0};
    for (std::size_t group = 0; group < 5; ++group) {
      const std::size_t begin = time.size();
      for (std::size_t row = random() % 9; row > 0; --row) time.push_back(static_cast<std::int64_t>(random() % 12));
      std::sort(time.begin() + static_cast<std::ptrdiff_t>(begin), time.end());
      first.push_back(static_cast<std::int64_t>(time.size()));
    }
    for (std::size_t group = 0; group < 5; ++group)
      for (std::int64_t moment = -1; moment < 13; ++moment)
        for (const bound edge : {bound::behind, bound::at_or_behind}) {
          std::int64_t row = first[group];
          while (row < first[group + 1] && (time[static_cast<std::size_t>(row)] < moment ||
                                            (edge == bound::behind && time[static_cast<std::size_t>(row)] == moment)))
            ++row;
          EXPECT_EQ(first_row({time, first}, group, moment, edge), row);
        }
  }
}

TEST(columns, sums_before_moments_are_those_of_each_point) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto numbers = [&](std::size_t count) {
      std::vector<std::int64_t> made(count);
      for (std::int64_t& number : made) number = static_cast<std::int64_t>(random() % 50) - 20;
      return made;
    };
    const std::vector<std::int64_t> points = numbers(random() % 60);
    std::vector<std::int64_t> moments = numbers(random() % 12);
    std::ranges::sort(moments);
    std::vector<std::int64_t> sums(moments.size()), expected(moments.size(), 0);
    for (std::size_t at = 0; at < moments.size(); ++at)
      for (const std::int64_t point : points) expected[at] += std::max<std::int64_t>(moments[at] - point, 0);
    sums_before(points, moments, sums);
    ASSERT_EQ(sums, expected) << seed;
  }
}

TEST(columns, the_largest_of_each_kind_are_the_first_of_a_stable_sort) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t count = random() % 80, most = 1 + random() % 6;
    std::vector<std::int32_t> kinds(count);
    std::vector<std::int64_t> numbers(count), order(count), expected;
    for (std::int32_t& kind : kinds) kind = static_cast<std::int32_t>(random() % 4);
    for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random() % 9);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int64_t row) {
      return std::pair(kinds[static_cast<std::size_t>(row)], -numbers[static_cast<std::size_t>(row)]);
    });
    std::vector<std::size_t> taken(4, 0);
    for (const std::int64_t row : order)
      if (taken[static_cast<std::size_t>(kinds[static_cast<std::size_t>(row)])]++ < most) expected.push_back(row);
    ASSERT_EQ(largest_of_kinds(kinds, numbers, most), expected) << seed;
  }
}

}  // namespace
}  // namespace trimtab::diagnosis

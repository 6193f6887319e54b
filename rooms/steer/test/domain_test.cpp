#include "trimtab/steer/domain.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace trimtab::steer {
namespace {

std::vector<knob_value> all(const domain& source) {
  std::vector<knob_value> values;
  for (std::size_t i = 0; i < source.size(); ++i) values.push_back(source.at(i));
  return values;
}

TEST(domain, ranges_have_their_steps) {
  EXPECT_EQ(all(*domain::range(2, 9, 3)), (std::vector<knob_value>{2, 5, 8}));
  EXPECT_EQ(all(*domain::range(-1, 1)), (std::vector<knob_value>{-1, 0, 1}));
  EXPECT_EQ(all(*domain::range(4, 4, 7)), (std::vector<knob_value>{4}));
}

TEST(domain, sets_are_sorted_and_have_each_value_once) {
  EXPECT_EQ(all(*domain::set({8, 1, 8, 3})), (std::vector<knob_value>{1, 3, 8}));
}

TEST(domain, powers_of_two) {
  EXPECT_EQ(all(*domain::powers_of_two(2, 16)), (std::vector<knob_value>{2, 4, 8, 16}));
  const knob_value highest = knob_value{1} << 62;
  EXPECT_EQ(domain::powers_of_two(1, highest)->size(), 63u);
}

TEST(domain, refuses_what_is_none) {
  using limits = std::numeric_limits<knob_value>;
  EXPECT_FALSE(domain::range(2, 1));
  EXPECT_FALSE(domain::range(1, 2, 0));
  EXPECT_FALSE(domain::range(limits::min(), limits::max()));
  EXPECT_EQ(domain::range(limits::min(), limits::max(), limits::max())->size(), 3u);
  EXPECT_FALSE(domain::set({}));
  EXPECT_FALSE(domain::powers_of_two(3, 16));
  EXPECT_FALSE(domain::powers_of_two(0, 16));
  EXPECT_FALSE(domain::powers_of_two(16, 2));
  EXPECT_FALSE(domain::categories({}));
  EXPECT_FALSE(domain::categories({"a", "b", "a"}));
  EXPECT_FALSE(domain::categories({"a", ""}));
}

TEST(domain, finds_values_and_the_nearest) {
  const domain values = *domain::set({1, 8, 64});
  EXPECT_EQ(values.index_of(8), 1u);
  EXPECT_FALSE(values.contains(9));
  EXPECT_EQ(values.nearest_index(0), 0u);
  EXPECT_EQ(values.nearest_index(30), 1u);
  EXPECT_EQ(values.nearest_index(40), 2u);
  EXPECT_EQ(values.nearest_index(std::numeric_limits<knob_value>::max()), 2u);
  EXPECT_EQ(values.nearest_index(std::numeric_limits<knob_value>::min()), 0u);
}

TEST(domain, texts_read_back) {
  const domain names = *domain::categories({"static", "dynamic"});
  EXPECT_FALSE(names.is_ordered());
  EXPECT_EQ(names.text_of(1), "dynamic");
  EXPECT_EQ(names.value_of("static"), 0);
  EXPECT_FALSE(names.value_of("1"));
  const domain values = *domain::range(-2, 5);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values.value_of(values.text_of(values.at(i))), values.at(i));
  EXPECT_FALSE(values.value_of("6"));
  EXPECT_FALSE(values.value_of("3x"));
  EXPECT_FALSE(values.value_of(""));
}

TEST(domain, of_the_codes_own_values_is_certain) {
  EXPECT_EQ(certain(domain::range(1, 3)).size(), 3u);
  EXPECT_THROW(certain(domain::set({})), std::logic_error);
}

}  // namespace
}  // namespace trimtab::steer

#include "trimtab/options/values.hpp"

#include <gtest/gtest.h>

#include <string>

namespace trimtab::options {
namespace {

constexpr std::string_view colours[] = {"red", "green", "blue"};

values with_tunables() {
  values allowed_words = word(word_of<colours>);
  allowed_words.has_tunables = [](std::string_view name) { return name == "green"; };
  return allowed_words;
}

TEST(values, numbers_are_whole_and_within_their_range) {
  const values allowed = number(2, ~std::uint64_t{0});
  EXPECT_EQ(check(allowed, "2")->number, 2u);
  EXPECT_EQ(check(allowed, "18446744073709551615")->number, ~std::uint64_t{0});
  for (const char* const wrong : {"", "1", "-2", "+2", " 2", "2 ", "2.5", "0x10", "18446744073709551616", "two"})
    EXPECT_FALSE(check(allowed, wrong)) << wrong;
}

TEST(values, flags_are_one_digit) {
  EXPECT_TRUE(check(flag(), "1")->is_set());
  EXPECT_FALSE(check(flag(), "0")->is_set());
  for (const char* const wrong : {"", "2", "00", "01", "yes"}) EXPECT_FALSE(check(flag(), wrong)) << wrong;
}

TEST(values, words_are_known_by_their_index) {
  const values allowed = word(word_of<colours>);
  EXPECT_EQ(check(allowed, "red")->index, 0u);
  EXPECT_EQ(check(allowed, "blue")->index, 2u);
  for (const char* const wrong : {"", "re", "reds", "Red", "red:", "red,blue"}) EXPECT_FALSE(check(allowed, wrong)) << wrong;
}

TEST(values, a_word_may_be_a_file_too) {
  values allowed = word(word_of<colours>);
  allowed.file_ending = ".py";
  EXPECT_EQ(check(allowed, "red")->index, 0u);
  EXPECT_EQ(check(allowed, "/a/b.py")->index, value::is_file);
  EXPECT_STREQ(check(allowed, "/a/b.py")->text, "/a/b.py");
  for (const char* const wrong : {".py", "b.pyc", "b"}) EXPECT_FALSE(check(allowed, wrong)) << wrong;
}

TEST(values, tunables_stand_behind_a_word_that_has_some) {
  const auto checked = check(with_tunables(), "green:a=1,b=2");
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->index, 1u);
  EXPECT_STREQ(checked->tunables, "a=1,b=2");
  EXPECT_STREQ(check(with_tunables(), "green")->tunables, "");
  EXPECT_STREQ(check(with_tunables(), "red:")->tunables, "");
  EXPECT_FALSE(check(with_tunables(), "red:a=1"));
  EXPECT_FALSE(check(with_tunables(), "violet:a=1"));
}

TEST(values, a_list_has_any_of_its_words) {
  const values allowed = words(word_of<colours>);
  const auto checked = check(allowed, "blue,red");
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->has(0) && !checked->has(1) && checked->has(2));
  EXPECT_EQ(check(allowed, "")->chosen, 0u);
  for (const char* const wrong : {",red", "red,,blue", "red blue", "violet"}) EXPECT_FALSE(check(allowed, wrong)) << wrong;
}

TEST(values, words_of_a_selection_are_left_to_whoever_uses_them) {
  EXPECT_STREQ(check(selection(word_of<colours>), "+violet")->text, "+violet");
}

TEST(values, what_is_expected_is_said_as_it_is_checked) {
  EXPECT_EQ(expected(number(0, 4096)), "a number from 0 to 4096");
  EXPECT_EQ(expected(flag()), "0 or 1");
  EXPECT_EQ(expected(word(word_of<colours>)), "one of red, green, blue");
  EXPECT_EQ(expected(words(word_of<colours>)), "a comma list of red, green, blue");
  EXPECT_EQ(summary(number(0, 4096)), "0 to 4096");
  EXPECT_EQ(summary(with_tunables()), "red, green, blue; with tunables: WORD:NAME=VALUE,...");
}

}  // namespace
}  // namespace trimtab::options

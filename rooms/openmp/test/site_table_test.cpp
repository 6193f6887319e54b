// Sites are found by their keys, wherever their hashes fall.
#include "steering/site_table.hpp"

#include <gtest/gtest.h>

namespace trimtab::openmp {
namespace {

struct keyed_site {
  std::uint64_t key;
};
constexpr std::uint32_t most_sites = 8;

struct a_site_table : ::testing::Test {
  static auto is_of(std::uint64_t key) {
    return [key](const keyed_site& candidate) { return candidate.key == key; };
  }
  // With the hash that the test says, which several may have in common.
  keyed_site* find(std::uint64_t key, std::uint64_t hash) { return table.find(hash, is_of(key)); }
  keyed_site* add(std::uint64_t key, std::uint64_t hash) {
    return table.add(hash, is_of(key), [key](keyed_site& added) { added.key = key; });
  }
  site_table<keyed_site, most_sites> table;
};

TEST_F(a_site_table, has_no_room_before_it_has_memory) {
  EXPECT_FALSE(table.has_room());
  EXPECT_EQ(find(1, 1), nullptr);
  ASSERT_TRUE(table.prepare());
  EXPECT_TRUE(table.has_room());
}

TEST_F(a_site_table, finds_all_that_fall_together_until_it_is_full) {
  ASSERT_TRUE(table.prepare());
  // The last place: those that follow go on at the beginning.
  constexpr std::uint64_t last = 4 * most_sites - 1;
  for (std::uint64_t key = 1; key <= most_sites; ++key) {
    ASSERT_TRUE(table.has_room());
    EXPECT_EQ(find(key, last), nullptr);
    EXPECT_EQ(add(key, last), &table.at(static_cast<std::uint32_t>(key - 1)));
  }
  EXPECT_FALSE(table.has_room());
  EXPECT_EQ(table.size(), most_sites);
  for (std::uint64_t key = 1; key <= most_sites; ++key) {
    ASSERT_NE(find(key, last), nullptr) << key;
    EXPECT_EQ(find(key, last)->key, key);
  }
  EXPECT_EQ(find(most_sites + 1, last), nullptr);
}

TEST_F(a_site_table, keeps_what_it_has_when_it_is_prepared_again) {
  ASSERT_TRUE(table.prepare());
  const keyed_site* const added = add(7, 3);
  ASSERT_TRUE(table.prepare());
  EXPECT_EQ(find(7, 3), added);
  EXPECT_EQ(&table.at(0), added);
}

}  // namespace
}  // namespace trimtab::openmp

// What a lane knows of places: places that fall together do not forget each other.
#include "accounting/known_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trimtab::openmp {
namespace {

struct known_number {
  const void* place;
  std::uint32_t generation;
  int number;
};
using numbers = known_table<known_number, 8>;

const known_number* find(numbers& in, const void* place, std::uint32_t generation) {
  return in.find(
      place, [=](const known_number& candidate) { return candidate.place == place && candidate.generation == generation; });
}
void put(numbers& in, const void* place, std::uint32_t generation, int number) {
  const auto is_free = [=](const known_number& candidate) { return candidate.generation != generation; };
  in.free_for(place, is_free) = {place, generation, number};
}

// Places whose addresses point to the same entry.
std::vector<const void*> places_together(numbers& in, std::size_t count) {
  std::vector<const void*> places_found;
  for (std::uintptr_t address = 0x1000; places_found.size() < count; address += 16) {
    const auto* const place = reinterpret_cast<const void*>(address);
    if (in.first_for(place) == &in.entries[7]) places_found.push_back(place);
  }
  return places_found;
}

TEST(known_table, keeps_places_that_fall_together) {
  numbers table{};
  const auto places = places_together(table, numbers::near);
  for (std::size_t i = 0; i < places.size(); ++i) put(table, places[i], 1, static_cast<int>(i));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const known_number* const match = find(table, places[i], 1);
    ASSERT_NE(match, nullptr) << i;
    EXPECT_EQ(match->number, static_cast<int>(i));
  }
}

TEST(known_table, one_more_takes_the_first_ones_entry_and_no_other) {
  numbers table{};
  const auto places = places_together(table, numbers::near + 1);
  for (const void* const place : places) put(table, place, 1, 0);
  EXPECT_EQ(find(table, places[0], 1), nullptr);
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_NE(find(table, places[i], 1), nullptr) << i;
}

TEST(known_table, what_is_of_another_generation_is_neither_found_nor_kept) {
  numbers table{};
  const auto places = places_together(table, numbers::near + 1);
  for (std::size_t i = 0; i < numbers::near; ++i) put(table, places[i], 1, 0);
  EXPECT_EQ(find(table, places[0], 2), nullptr);
  put(table, places[numbers::near], 2, 7);
  EXPECT_EQ(find(table, places[numbers::near], 2)->number, 7);
  EXPECT_NE(find(table, places[1], 1), nullptr);
}

}  // namespace
}  // namespace trimtab::openmp

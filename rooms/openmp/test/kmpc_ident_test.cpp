// Decoding what clang's code passes along.
#include "kmpc_ident.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace trimtab::openmp {
namespace {

using observe::schedule;

TEST(iterations, up_to_and_including_the_last_hold_over_the_whole_range) {
  EXPECT_EQ(inclusive_count(0, 999, 1), 1000u);
  EXPECT_EQ(inclusive_count(0, 999, 7), 143u);
  EXPECT_EQ(inclusive_count(999, 0, -1), 1000u);
  EXPECT_EQ(inclusive_count(10, 0, -3), 4u);
  EXPECT_EQ(inclusive_count(5, 5, 1), 1u);
  EXPECT_EQ(inclusive_count(5, 4, 1), 0u);
  EXPECT_EQ(inclusive_count(4, 5, -1), 0u);
  EXPECT_EQ(inclusive_count(0, 9, 0), 0u);
  EXPECT_EQ(inclusive_count(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), 1),
            std::uint64_t{1} << 32);
  EXPECT_EQ(inclusive_count(std::uint32_t{0}, ~std::uint32_t{0}, 1), std::uint64_t{1} << 32);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(inclusive_count(least + 1, most, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(inclusive_count(most, least, least), 2u);
}

TEST(schedules, are_known_with_and_without_modifiers) {
  constexpr std::int32_t monotonic = 1 << 29, nonmonotonic = 1 << 30;
  EXPECT_EQ(schedule_of_llvm(34), schedule::static_);
  EXPECT_EQ(schedule_of_llvm(33), schedule::static_chunked);
  EXPECT_EQ(schedule_of_llvm(35 | nonmonotonic), schedule::dynamic);
  EXPECT_EQ(schedule_of_llvm(36 | monotonic), schedule::guided);
  EXPECT_EQ(schedule_of_llvm(37), schedule::runtime);
  EXPECT_EQ(schedule_of_llvm(38), schedule::auto_);
  EXPECT_EQ(schedule_of_llvm(65), schedule::static_chunked);
  EXPECT_EQ(schedule_of_llvm(92), schedule::distribute);
  EXPECT_TRUE(is_chunked_llvm(33 | monotonic));
  EXPECT_TRUE(is_chunked_llvm(91));
  // Balanced: with a chunk, and yet one block for each thread.
  EXPECT_EQ(schedule_of_llvm(45), schedule::static_chunked);
  EXPECT_FALSE(is_chunked_llvm(45));
}

TEST(source, is_known_where_the_compiler_had_debug_information) {
  ident with{0, 2, 0, 0, ";a.c;main;7;1;;"}, without{0, 2, 0, 0, ";unknown;unknown;0;0;;"};
  EXPECT_TRUE(is_source_known(&with));
  EXPECT_FALSE(is_source_known(&without));
  EXPECT_FALSE(is_source_known(nullptr));
  EXPECT_EQ(source_of(nullptr), nullptr);
}

}  // namespace
}  // namespace trimtab::openmp

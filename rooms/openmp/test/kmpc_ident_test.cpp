// Decoding what clang's code passes along.
#include <gtest/gtest.h>

#include <limits>

#include "hooks/kmpc/ident.hpp"

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
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(inclusive_count(largest + 1, most, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(inclusive_count(most, largest, largest), 2u);
}

TEST(blocks, of_all_threads_make_the_loop) {
  // A loop of 1000 in blocks of 7 for four threads, as the runtime hands them out: 143 blocks, the last one of 6.
  std::uint64_t iterations = 0, blocks = 0;
  for (std::int32_t thread = 0; thread < 4; ++thread) {
    const own_part up = blocks_of(7 * thread, 7 * thread + 6, 999, 28, 1);
    const own_part down = blocks_of(999 - 7 * thread, 999 - 7 * thread - 6, 0, -28, -1);
    const own_part apart =
        blocks_of(std::uint64_t{3} + 14u * static_cast<unsigned>(thread),
                  std::uint64_t{3} + 14u * static_cast<unsigned>(thread) + 12u, std::uint64_t{2001}, std::int64_t{56}, 2);
    EXPECT_EQ(up.iterations, down.iterations);
    EXPECT_EQ(up.iterations, apart.iterations);
    EXPECT_EQ(up.blocks, down.blocks);
    EXPECT_EQ(up.blocks, apart.blocks);
    iterations += up.iterations;
    blocks += up.blocks;
  }
  EXPECT_EQ(iterations, 1000u);
  EXPECT_EQ(blocks, 143u);
}

TEST(blocks, that_lie_beyond_the_loop_are_none) {
  EXPECT_EQ(blocks_of(300, 399, 250, 400, 1).iterations, 0u);
  EXPECT_EQ(blocks_of(300, 399, 250, 400, 1).blocks, 0u);
  EXPECT_EQ(blocks_of(200, 299, 250, 400, 1).iterations, 51u);
  EXPECT_EQ(blocks_of(-200, -299, -250, -400, -1).iterations, 51u);
  // A team of one has the loop as one block.
  EXPECT_EQ(blocks_of(0, 999, 999, 1000, 1).iterations, 1000u);
  EXPECT_EQ(blocks_of(0, 999, 999, 1000, 1).blocks, 1u);
  EXPECT_EQ(blocks_of(0, 999, 999, 0, 1).blocks, 1u);
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
  ident located{0, 2, 0, 0, ";a.c;main;7;1;;"}, unlocated{0, 2, 0, 0, ";unknown;unknown;0;0;;"};
  EXPECT_TRUE(is_source_known(&located));
  EXPECT_FALSE(is_source_known(&unlocated));
  EXPECT_FALSE(is_source_known(nullptr));
  EXPECT_EQ(source_of(nullptr), nullptr);
}

}  // namespace
}  // namespace trimtab::openmp

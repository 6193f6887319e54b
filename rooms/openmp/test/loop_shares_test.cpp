#include "steering/loop_shares.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trimtab::openmp {
namespace {

std::vector<std::uint64_t> sizes_of(sharing how, std::uint64_t trip, std::uint32_t threads, std::uint64_t least = 1) {
  ticket_chunks chunks(how, trip, threads, least);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t t = 0; t < chunks.tickets(); ++t) sizes.push_back(chunks.begin_of(t + 1) - chunks.begin_of(t));
  return sizes;
}

TEST(loop_shares, no_ticket_is_empty_and_together_they_are_the_loop) {
  for (const sharing how : {sharing::fac2, sharing::tss})
    for (const std::uint32_t threads : {1u, 2u, 3u, 7u, 64u, 200u})
      for (const std::uint64_t least : {1u, 2u, 3u, 8u, 100u, 5000u})
        for (std::uint64_t trip = 1; trip < 3000; trip += trip < 300 ? 1 : 37) {
          std::uint64_t sum = 0;
          for (const std::uint64_t size : sizes_of(how, trip, threads, least)) {
            ASSERT_GT(size, 0u) << static_cast<int>(how) << " " << trip << " " << threads << " " << least;
            sum += size;
          }
          ASSERT_EQ(sum, trip);
        }
}

TEST(loop_shares, tickets_may_be_asked_for_in_any_order) {
  ticket_chunks in_turn(sharing::fac2, 12345, 5, 2), backwards(sharing::fac2, 12345, 5, 2);
  std::vector<std::uint64_t> begins;
  for (std::uint64_t t = 0; t <= in_turn.tickets(); ++t) begins.push_back(in_turn.begin_of(t));
  for (std::uint64_t t = in_turn.tickets() + 1; t-- > 0;) EXPECT_EQ(backwards.begin_of(t), begins[t]);
}

TEST(loop_shares, factoring_halves_what_is_left) {
  EXPECT_EQ(sizes_of(sharing::fac2, 100, 2), (std::vector<std::uint64_t>{25, 25, 13, 13, 6, 6, 3, 3, 2, 2, 1, 1}));
  EXPECT_EQ(sizes_of(sharing::fac2, 100, 2, 10), (std::vector<std::uint64_t>{25, 25, 13, 13, 10, 10, 4}));
}

TEST(loop_shares, a_trapezoid_falls_by_the_same_amount) {
  const auto sizes = sizes_of(sharing::tss, 10000, 4);
  EXPECT_EQ(sizes.front(), 1250u);
  for (std::size_t i = 2; i + 1 < sizes.size(); ++i)
    EXPECT_NEAR(static_cast<double>(sizes[i - 1] - sizes[i]), static_cast<double>(sizes[0] - sizes[1]), 2.0);
}

TEST(loop_shares, mfsc_has_as_many_chunks_as_factoring) {
  ticket_chunks factoring(sharing::fac2, 100000, 4, 1);
  const std::uint64_t chunk = mfsc_chunk(100000, 4, 1);
  EXPECT_LE((100000 + chunk - 1) / chunk, factoring.tickets());
  EXPECT_GT(100000 / (chunk - 1), factoring.tickets() - 1);
  EXPECT_EQ(mfsc_chunk(100, 4, 64), 64u);
}

TEST(loop_shares, long_loops_are_exact) {
  const std::uint64_t trip = (std::uint64_t{1} << 52) - 1;
  for (const sharing how : {sharing::fac2, sharing::tss}) {
    ticket_chunks chunks(how, trip, 64, 1000003);
    std::uint64_t before = 0;
    const std::uint64_t some = std::min<std::uint64_t>(chunks.tickets(), 100000);
    for (std::uint64_t t = 1; t <= some; ++t) {
      ASSERT_GT(chunks.begin_of(t), before);
      before = chunks.begin_of(t);
    }
    EXPECT_EQ(chunks.begin_of(chunks.tickets()), trip);
  }
}

}  // namespace
}  // namespace trimtab::openmp

#include "steering/loop_shares.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trimtab::openmp {
namespace {

std::vector<std::uint64_t> sizes_of(sharing method, std::uint64_t trip, std::uint32_t threads, std::uint64_t smallest = 1,
                                    std::uint32_t first_percent = first_percent_of_scheme) {
  ticket_chunks chunks(method, trip, threads, smallest, first_percent);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t t = 0; t < chunks.tickets(); ++t) sizes.push_back(chunks.begin_of(t + 1) - chunks.begin_of(t));
  return sizes;
}

TEST(loop_shares, no_ticket_is_empty_and_together_they_are_the_loop) {
  for (const sharing how : {sharing::fac2, sharing::tss, sharing::sss})
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

TEST(loop_shares, any_first_chunk_gives_each_iteration_once) {
  for (const sharing how : {sharing::tss, sharing::sss})
    for (const std::uint32_t percent : {1u, 10u, 25u, 50u, 60u, 75u, 90u, 99u, 100u, 1000u})
      for (const std::uint32_t threads : {1u, 2u, 3u, 7u, 64u})
        for (const std::uint64_t least : {1u, 3u, 100u})
          for (std::uint64_t trip = 1; trip < 2000; trip += trip < 200 ? 1 : 41) {
            std::uint64_t sum = 0;
            for (const std::uint64_t size : sizes_of(how, trip, threads, least, percent)) {
              ASSERT_GT(size, 0u) << static_cast<int>(how) << " " << percent << " " << trip << " " << threads << " "
                                  << least;
              sum += size;
            }
            ASSERT_EQ(sum, trip) << static_cast<int>(how) << " " << percent << " " << threads << " " << least;
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

TEST(loop_shares, safe_self_scheduling_gives_the_same_share_of_what_is_left) {
  const std::vector<std::uint64_t> three_quarters{38, 38, 9, 9, 3, 3};
  EXPECT_EQ(sizes_of(sharing::sss, 100, 2), three_quarters);
  EXPECT_EQ(sizes_of(sharing::sss, 100, 2, 1, 75), three_quarters);
  EXPECT_EQ(sizes_of(sharing::sss, 100, 2, 10), (std::vector<std::uint64_t>{38, 38, 10, 10, 4}));
  EXPECT_EQ(sizes_of(sharing::sss, 9, 4, 1, 100), (std::vector<std::uint64_t>{3, 3, 3}));
  for (const std::uint64_t trip : {1u, 7u, 100u, 12345u})
    EXPECT_EQ(sizes_of(sharing::sss, trip, 3, 2, 50), sizes_of(sharing::fac2, trip, 3, 2)) << "factoring is a case of it";
}

TEST(loop_shares, the_first_chunk_of_a_trapezoid_is_a_choice) {
  EXPECT_EQ(sizes_of(sharing::tss, 10000, 4).front(), 1250u) << "trip / (2 threads), as Tzen and Ni have it";
  EXPECT_EQ(sizes_of(sharing::tss, 10000, 4, 1, 50), sizes_of(sharing::tss, 10000, 4));
  EXPECT_EQ(sizes_of(sharing::tss, 10000, 4, 1, 100).front(), 2500u);
  EXPECT_EQ(sizes_of(sharing::tss, 10000, 4, 1, 10).front(), 250u);
  EXPECT_EQ(sizes_of(sharing::fac2, 10000, 4, 1, 90), sizes_of(sharing::fac2, 10000, 4)) << "others have none";
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
  for (const sharing how : {sharing::fac2, sharing::tss, sharing::sss}) {
    ticket_chunks chunks(how, trip, 64, 1000003);
    std::uint64_t before = 0;
    const std::uint64_t count = std::min<std::uint64_t>(chunks.tickets(), 100000);
    for (std::uint64_t t = 1; t <= count; ++t) {
      ASSERT_GT(chunks.begin_of(t), before);
      before = chunks.begin_of(t);
    }
    EXPECT_EQ(chunks.begin_of(chunks.tickets()), trip);
  }
}

}  // namespace
}  // namespace trimtab::openmp

// Chunks that members claim themselves, without any OpenMP runtime: each iteration once, whoever lags, whatever the weights.
#include "steering/claimed_loops.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace trimtab::openmp {
namespace {

class claimed_loops : public ::testing::Test {
 protected:
  void SetUp() override {
    site.loads.store(loads.get());
    of.claimed.store(0);
  }
  steered_thread member(std::uint32_t number, std::uint32_t members, std::uint64_t trip, std::uint64_t smallest = 1) {
    steered_thread result{};
    result.of = &of;
    result.number = number;
    if (plan.chunk != smallest) plan.chunk = smallest;
    result.plan = &plan;
    result.site = &site;
    result.members = members;
    result.loop.trip = trip;
    return result;
  }
  // As if it had worked so fast in executions before.
  void set_rate(std::uint32_t number, double iterations_per_tick) {
    loads[number].claimed_iterations.store(1000 * iterations_per_tick);
    loads[number].claimed_ticks.store(1000);
  }
  std::uint64_t first_chunk(std::uint32_t number, std::uint32_t members, std::uint64_t trip) {
    of.claimed.store(0);
    steered_thread self = member(number, members, trip);
    begin_claims(self);
    std::uint64_t begin = 0, end = 0;
    EXPECT_TRUE(claim_chunk(self, begin, end));
    EXPECT_EQ(begin, 0u);
    return end;
  }

  team of{};
  loop_plan plan{0, nullptr, 1, sharing::awf, false, 1, {}};
  loop_site site{};
  std::unique_ptr<member_load[]> loads = std::make_unique<member_load[]>(loop_site::most_members);
};

TEST_F(claimed_loops, batches_are_half_of_what_is_left) {
  steered_thread self = member(0, 4, 1000);
  begin_claims(self);
  std::vector<std::uint64_t> sizes;
  std::uint64_t begin = 0, end = 0, last = 0;
  while (claim_chunk(self, begin, end)) {
    EXPECT_EQ(begin, last);
    last = end;
    sizes.push_back(end - begin);
  }
  EXPECT_EQ(last, 1000u);
  EXPECT_EQ(std::vector<std::uint64_t>(sizes.begin(), sizes.begin() + 9),
            (std::vector<std::uint64_t>{125, 125, 125, 125, 62, 62, 62, 62, 62}))
      << "what rounding left over of the second batch is taken by one more chunk of it";
  EXPECT_EQ(sizes.back(), 1u);
}

TEST_F(claimed_loops, who_is_faster_takes_more) {
  EXPECT_EQ(first_chunk(0, 2, 10'000), 2500u) << "nothing is known";
  set_rate(0, 3);
  EXPECT_EQ(first_chunk(0, 2, 10'000), 2500u) << "of the other nothing is known";
  set_rate(1, 1);
  EXPECT_NEAR(static_cast<double>(first_chunk(0, 2, 10'000)), 3750, 1);
  EXPECT_NEAR(static_cast<double>(first_chunk(1, 2, 10'000)), 1250, 1);
  set_rate(1, 1e-6);
  EXPECT_NEAR(static_cast<double>(first_chunk(0, 2, 10'000)), 5000, 1);
  EXPECT_NEAR(static_cast<double>(first_chunk(1, 2, 10'000)), 125, 1) << "never none";
}

TEST_F(claimed_loops, without_a_place_for_rates_all_are_equal) {
  site.loads.store(nullptr);
  EXPECT_EQ(first_chunk(1, 2, 10'000), 2500u);
}

TEST_F(claimed_loops, chunks_are_of_the_least_size_but_the_last) {
  steered_thread self = member(0, 2, 100, 30);
  begin_claims(self);
  std::vector<std::uint64_t> sizes;
  std::uint64_t begin = 0, end = 0;
  while (claim_chunk(self, begin, end)) sizes.push_back(end - begin);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{30, 30, 30, 10}));
}

TEST_F(claimed_loops, who_comes_late_finds_nothing_of_a_loop_that_is_over) {
  steered_thread early = member(0, 2, 50), late = member(1, 2, 50);
  std::uint64_t begin = 0, end = 0, claimed = 0;
  for (int loop = 0; loop < 3; ++loop) {
    begin_claims(early);
    if (loop < 2)
      while (claim_chunk(early, begin, end)) claimed += end - begin;
  }
  ASSERT_TRUE(claim_chunk(early, begin, end));
  EXPECT_EQ(claimed, 100u);
  for (int loop = 0; loop < 2; ++loop) {
    begin_claims(late);
    EXPECT_FALSE(claim_chunk(late, begin, end));
  }
  begin_claims(late);
  const std::uint64_t before = end;
  ASSERT_TRUE(claim_chunk(late, begin, end));
  EXPECT_EQ(begin, before) << "the third is under way";
}

TEST_F(claimed_loops, the_number_of_a_loop_may_go_round) {
  steered_thread self = member(0, 2, 50);
  constexpr std::uint32_t largest = (1u << 24) - 1;
  self.claimed_loop = largest - 1;
  of.claimed.store(std::uint64_t{largest - 1} << 40 | 50);
  for (int loop = 0; loop < 3; ++loop) {
    begin_claims(self);
    std::uint64_t begin = 0, end = 0, claimed = 0;
    while (claim_chunk(self, begin, end)) claimed += end - begin;
    EXPECT_EQ(claimed, 50u);
  }
  EXPECT_EQ(self.claimed_loop, 1u);
}

TEST_F(claimed_loops, tickets_are_gone_through_once_when_nothing_is_left) {
  steered_thread self = member(0, 2, 4, 4);
  begin_claims(self);
  int asks = 0, claims = 0;
  const auto count_claim = [&](std::uint64_t, std::uint64_t) { claims += 1; };
  const auto next_ticket = [&] { return ++asks < 3; };
  EXPECT_TRUE(next_claimed(self, count_claim, next_ticket));
  EXPECT_EQ(asks, 0);
  EXPECT_FALSE(next_claimed(self, count_claim, next_ticket));
  EXPECT_EQ(asks, 3);
  EXPECT_FALSE(next_claimed(self, count_claim, next_ticket));
  EXPECT_EQ(asks, 3) << "the runtime must not be asked again";
  EXPECT_EQ(claims, 1);
}

// Loops one after the other without a barrier between them, of random lengths and least chunks; members come when they like.
TEST_F(claimed_loops, every_iteration_is_claimed_once) {
  constexpr std::uint32_t members = 4;
  constexpr std::size_t loops = 400;
  std::mt19937 random(20261121);
  std::vector<std::vector<std::atomic<int>>> times_run;
  for (std::size_t i = 0; i < loops; ++i) times_run.emplace_back(2 * members + random() % 500);
  const std::uint64_t smallest = 1 + random() % 8;
  const auto work = [&](std::uint32_t number) {
    steered_thread self = member(number, members, 0, smallest);
    std::minstd_rand own_random(number + 1);
    for (auto& loop : times_run) {
      self.loop.trip = loop.size();
      begin_claims(self);
      if (own_random() % 8 == 0) std::this_thread::yield();
      std::uint64_t begin = 0, end = 0;
      while (claim_chunk(self, begin, end)) {
        for (std::uint64_t i = begin; i < end; ++i) loop.at(i).fetch_add(1, std::memory_order_relaxed);
        if (own_random() % 4 == 0) std::this_thread::yield();
      }
    }
  };
  plan.chunk = smallest;
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < members; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& each : others) each.join();
  int wrong = 0;
  for (const auto& loop : times_run)
    for (const auto& times : loop) wrong += times.load() != 1;
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trimtab::openmp

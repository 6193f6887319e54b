#include "trimtab/observe/activity.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace trimtab::observe {
namespace {

TEST(activity, sums_the_phases_in_which_any_is_active) {
  activity some;
  some.reset(1000);
  EXPECT_EQ(some.until(1600), 0u);
  EXPECT_TRUE(some.enter(1160));
  EXPECT_FALSE(some.enter(1320));
  EXPECT_EQ(some.until(1480), 320u);
  EXPECT_FALSE(some.leave(1640));
  EXPECT_TRUE(some.leave(1800));
  EXPECT_EQ(some.until(1800), 640u);
  EXPECT_EQ(some.until(100'000), 640u);
  EXPECT_TRUE(some.enter(100'008));
  EXPECT_EQ(some.until(100'168), 800u);
}

TEST(activity, a_time_before_the_present_phase_is_none) {
  activity some;
  some.reset(0);
  some.enter(1600);
  EXPECT_EQ(some.until(800), 0u);
}

TEST(activity, is_right_for_random_phases) {
  const unsigned seed = 20261121;
  std::mt19937_64 random(seed);
  activity some;
  some.reset(0);
  std::uint64_t active = 0, at = 16, expected = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t next = at + 16 * (random() % 100'000);
    if (active > 0) expected += next - at;
    at = next;
    if (active == 0 || random() % 2 == 0) {
      EXPECT_EQ(some.enter(at), active++ == 0);
    } else {
      EXPECT_EQ(some.leave(at), --active == 0);
    }
    ASSERT_EQ(some.until(at), expected) << "seed " << seed << ", step " << step;
  }
}

TEST(activity, many_threads_that_come_and_go_leave_none_active) {
  activity some;
  some.reset(0);
  std::atomic<std::uint64_t> clock{16};
  std::atomic<std::uint64_t> begun{0}, ended{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20'000; ++turn) {
        if (some.enter(clock.fetch_add(16))) begun += 1;
        if (some.leave(clock.fetch_add(16))) ended += 1;
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(begun, ended);
  EXPECT_GT(some.until(clock), 0u);
  EXPECT_EQ(some.until(clock), some.until(clock + 1'000'000));
}

}  // namespace
}  // namespace trimtab::observe

#include "pace.hpp"

#include <gtest/gtest.h>

namespace trimtab::session {
namespace {

TEST(pace, is_slower_when_nothing_was_decided_for_long) {
  for (const rhythm& by : {of_searches, of_recall, of_fitting, of_others}) {
    pace looks(by);
    EXPECT_EQ(looks.period_s(0), pace::busy_s);
    EXPECT_EQ(looks.period_s(2 * by.busy_for_s), by.calm_s);
    looks.decided(10);
    EXPECT_EQ(looks.period_s(10 + by.busy_for_s / 2), pace::busy_s);
    EXPECT_EQ(looks.period_s(10 + 2 * by.busy_for_s), by.calm_s);
  }
}

TEST(pace, rarely_asks_what_others_did_while_it_is_slow) {
  pace looks;
  looks.told(0, 0.01);
  EXPECT_FALSE(looks.asks(0.4));
  EXPECT_TRUE(looks.asks(0.5));
  looks.decided(0.4);
  EXPECT_TRUE(looks.asks(0.41));
  looks.told(0.41, 0.5);
  EXPECT_EQ(looks.period_s(1 + 2 * of_searches.busy_for_s), of_searches.calm_s);
}

TEST(pace, is_slowest_while_threads_lack_cpus_and_there_is_nothing_to_see) {
  for (const rhythm& by : {of_searches, of_recall}) {
    pace looks(by);
    const double calm_at = 2 * by.busy_for_s;
    looks.told(0, 0.5);
    EXPECT_EQ(looks.period_s(0, true), pace::crowded_s) << "there may be soon";
    EXPECT_EQ(looks.period_s(calm_at, true), pace::dull_s);
    EXPECT_EQ(looks.period_s(calm_at), by.calm_s);
    looks.told(calm_at + 1, 0.01);
    EXPECT_EQ(looks.period_s(calm_at + 1, true), by.calm_s) << "threads have their CPUs";
  }
}

TEST(pace, is_slower_while_threads_lack_cpus) {
  pace looks;
  looks.decided(0.1);
  EXPECT_TRUE(looks.asks(0));
  looks.told(0, 0.5);
  EXPECT_EQ(looks.period_s(0.1), pace::crowded_s);
  EXPECT_FALSE(looks.asks(0.01));
  EXPECT_TRUE(looks.asks(0.02));
  looks.told(0.02, 0.01);
  EXPECT_EQ(looks.period_s(0.1), pace::busy_s);
  looks.told(0.04, 0.5);
  looks.told(0.06, std::nullopt);
  EXPECT_EQ(looks.period_s(0.1), pace::busy_s);
}

TEST(pace, is_not_slower_where_a_measurement_may_be_waited_for) {
  pace looks(of_others);
  looks.measured(0.01, 1, pace::long_s);
  looks.told(0.02, 0.5);
  EXPECT_EQ(looks.period_s(0.02), pace::busy_s);
  looks.measured(0.03, 2, pace::long_s / 2);
  looks.told(0.04, 0.5);
  EXPECT_EQ(looks.period_s(0.04), pace::busy_s);
  looks.measured(0.5, 2, pace::long_s * 2);
  looks.told(0.01 + pace::none_for_s, 0.5);
  EXPECT_EQ(looks.period_s(0.6), pace::crowded_s) << "2 lost its CPU, and 1 was not there for long";
  for (int i = 0; i < 10; ++i) looks.measured(0.6, 2, pace::long_s * 2);
  looks.told(0.7, 0.5);
  EXPECT_EQ(looks.period_s(0.7), pace::busy_s) << "2 takes longer now";
}

}  // namespace
}  // namespace trimtab::session

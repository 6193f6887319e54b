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

TEST(pace, does_not_ask_for_what_others_did_while_it_is_slow) {
  pace looks;
  EXPECT_FALSE(looks.asks(1));
  looks.decided(1);
  EXPECT_TRUE(looks.asks(1));
  looks.told(1, 0.5);
  EXPECT_EQ(looks.period_s(1 + 2 * of_searches.busy_for_s), of_searches.calm_s);
}

TEST(pace, is_slowest_while_threads_lack_cpus) {
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

TEST(pace, is_not_slower_where_each_of_few_measurements_may_be_waited_for) {
  pace looks(of_others);
  looks.told(0, 0.5);
  looks.measured(0.01, 1);
  looks.told(0.02, 0.5);
  EXPECT_EQ(looks.period_s(0.02), pace::busy_s);
  looks.told(0.04, 0.5);
  EXPECT_EQ(looks.period_s(0.04), pace::busy_s);
  looks.measured(0.05, 10);
  looks.measured(0.06, 10);
  looks.told(0.06, 0.5);
  EXPECT_EQ(looks.period_s(0.06), pace::crowded_s) << "plenty of them";
  looks.measured(0.07, 1);
  looks.told(0.08, 0.5);
  ASSERT_EQ(looks.period_s(0.08), pace::busy_s);
  looks.told(0.08 + pace::none_for_s, 0.5);
  EXPECT_EQ(looks.period_s(0.6), pace::crowded_s) << "none for long";
}

}  // namespace
}  // namespace trimtab::session

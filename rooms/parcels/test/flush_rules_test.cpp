#include "trimtab/parcels/coalescing/flush_rules.hpp"

#include <gtest/gtest.h>

namespace trimtab::parcels {
namespace {

constexpr coalescing by_count{.rules = coalescing::way::strict, .count = 10, .wait_us = 100};

TEST(flush_rules, keep_an_empty_queue) {
  for (const occasion why :
       {occasion::added, occasion::acknowledged, occasion::own_idle, occasion::other_idle, occasion::time}) {
    EXPECT_EQ(must_flush({.is_all_handled = true}, {}, why), flush_reason::none);
    EXPECT_EQ(must_flush({.age_ns = 1'000'000}, by_count, why), flush_reason::none);
  }
}

TEST(flush_rules, strict_wait_for_the_count_or_the_time) {
  EXPECT_EQ(must_flush({.parcels = 9, .is_all_handled = true}, by_count, occasion::added), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 10}, by_count, occasion::added), flush_reason::count);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 99'999}, by_count, occasion::time), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 100'000}, by_count, occasion::time), flush_reason::time);
  EXPECT_EQ(must_flush({.parcels = 1}, by_count, occasion::own_idle), flush_reason::none);
  coalescing before_waiting = by_count;
  before_waiting.sends_before_waiting = true;
  EXPECT_EQ(must_flush({.parcels = 1}, before_waiting, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 1}, before_waiting, occasion::other_idle), flush_reason::none);
  EXPECT_EQ(longest_wait_ns(by_count), 100'000u);
}

TEST(flush_rules, strict_without_a_time_never_send_by_age) {
  const coalescing endless{.rules = coalescing::way::strict, .count = 10};
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = ~std::uint64_t{0}}, endless, occasion::time), flush_reason::none);
}

TEST(flush_rules, adaptive_send_at_once_while_everything_is_handled) {
  EXPECT_EQ(must_flush({.parcels = 1, .is_all_handled = true}, {}, occasion::added), flush_reason::handled);
  EXPECT_EQ(must_flush({.parcels = 1}, {}, occasion::added), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 1'999}, {}, occasion::time), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 1, .is_all_handled = true}, {}, occasion::acknowledged), flush_reason::handled);
}

TEST(flush_rules, adaptive_wait_for_the_rest_of_a_burst) {
  const queue_state some{.parcels = 63, .is_burst = true, .is_all_handled = true};
  EXPECT_EQ(must_flush(some, {}, occasion::added), flush_reason::none);
  EXPECT_EQ(must_flush(some, {}, occasion::other_idle), flush_reason::none);
  EXPECT_EQ(must_flush(some, {}, occasion::acknowledged), flush_reason::handled);
  EXPECT_EQ(must_flush(some, {}, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 64, .is_burst = true, .is_all_handled = true}, {}, occasion::added),
            flush_reason::handled);
  EXPECT_EQ(must_flush(some, {.burst_parcels = 1}, occasion::added), flush_reason::handled);
  EXPECT_EQ(must_flush({.parcels = 2, .age_ns = 3'000, .is_burst = true, .is_all_handled = true}, {}, occasion::other_idle),
            flush_reason::age);
}

TEST(burst_forecast, expects_what_has_happened_before) {
  burst_forecast forecast;
  EXPECT_FALSE(forecast.is_expected());
  forecast.first_added(100, false, 200);
  EXPECT_TRUE(forecast.is_expected());
  // What came after the sender had looked says nothing.
  for (int i = 0; i < 100; ++i) forecast.first_added(100'000, true, 200);
  EXPECT_TRUE(forecast.is_expected());
  forecast.first_added(100'000, false, 200);
  EXPECT_FALSE(forecast.is_expected());
}

TEST(burst_forecast, is_not_made_again_soon_after_a_parcel_was_late) {
  burst_forecast forecast;
  for (int i = 0; i < 100; ++i) forecast.first_added(100, false, 200);
  forecast.sent(2, flush_reason::age);
  EXPECT_TRUE(forecast.is_expected());
  forecast.sent(1, flush_reason::age);
  for (int i = 0; i < 64; ++i) {
    EXPECT_FALSE(forecast.is_expected());
    forecast.first_added(100, false, 200);
  }
  forecast.first_added(100, false, 200);
  EXPECT_TRUE(forecast.is_expected());
}

TEST(flush_rules, adaptive_send_what_an_idle_sender_has_queued) {
  EXPECT_EQ(must_flush({.parcels = 1}, {}, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 1'999, .message_ns = 100}, {}, occasion::other_idle), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 2'000, .message_ns = 100}, {}, occasion::other_idle), flush_reason::age);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 2'000, .message_ns = 9'000}, {}, occasion::other_idle), flush_reason::none);
}

TEST(flush_rules, send_a_full_queue_always) {
  EXPECT_EQ(must_flush({.parcels = 1, .bytes = coalescing{}.most_bytes}, {}, occasion::added), flush_reason::full);
  EXPECT_EQ(must_flush({.parcels = 1, .bytes = by_count.most_bytes}, by_count, occasion::added), flush_reason::full);
}

TEST(flush_rules, have_a_text_for_each_reason) {
  for (std::size_t i = 0; i < flush_reasons; ++i) EXPECT_STRNE(text_of(static_cast<flush_reason>(i)), "");
}

}  // namespace
}  // namespace trimtab::parcels

#include "trimtab/parcels/coalescing/flush_rules.hpp"

#include <gtest/gtest.h>

namespace trimtab::parcels {
namespace {

constexpr coalescing by_count{.rules = coalescing::way::strict, .count = 10, .wait_us = 100};

TEST(flush_rules, keep_an_empty_queue) {
  for (const occasion why : {occasion::added, occasion::acknowledged, occasion::own_idle, occasion::own_leaves,
                             occasion::other_idle, occasion::time}) {
    EXPECT_EQ(must_flush({}, {}, why), flush_reason::none);
    EXPECT_EQ(must_flush({.age_ns = 1'000'000}, by_count, why), flush_reason::none);
  }
}

TEST(flush_rules, strict_wait_for_the_count_or_the_time) {
  EXPECT_EQ(must_flush({.parcels = 9}, by_count, occasion::added), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 10}, by_count, occasion::added), flush_reason::count);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 99'999}, by_count, occasion::time), flush_reason::none);
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = 100'000}, by_count, occasion::time), flush_reason::time);
  EXPECT_EQ(must_flush({.parcels = 1}, by_count, occasion::own_idle), flush_reason::none);
  coalescing before_waiting = by_count;
  before_waiting.sends_before_waiting = true;
  EXPECT_EQ(must_flush({.parcels = 1}, before_waiting, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 1}, before_waiting, occasion::own_leaves), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 1}, before_waiting, occasion::other_idle), flush_reason::none);
  EXPECT_EQ(longest_wait_ns(by_count), 100'000u);
}

TEST(flush_rules, strict_without_a_time_never_send_by_age) {
  const coalescing endless{.rules = coalescing::way::strict, .count = 10};
  EXPECT_EQ(must_flush({.parcels = 1, .age_ns = ~std::uint64_t{0}}, endless, occasion::time), flush_reason::none);
}

TEST(flush_rules, adaptive_send_at_once_while_everything_is_handled) {
  EXPECT_EQ(must_flush({.parcels = 1}, {}, occasion::added), flush_reason::handled);
  EXPECT_EQ(must_flush({.parcels = 1}, {}, occasion::acknowledged), flush_reason::handled);
  const queue_state behind_another{.parcels = 1, .age_ns = 1'999, .under_way = 1, .batch = 2};
  for (const occasion why : {occasion::added, occasion::acknowledged, occasion::other_idle, occasion::time})
    EXPECT_EQ(must_flush(behind_another, {}, why), flush_reason::none);
}

TEST(flush_rules, adaptive_wait_for_the_rest_of_a_burst) {
  const queue_state some{.parcels = 63, .is_burst = true, .batch = 64};
  EXPECT_EQ(must_flush(some, {}, occasion::added), flush_reason::none);
  EXPECT_EQ(must_flush(some, {}, occasion::other_idle), flush_reason::none);
  EXPECT_EQ(must_flush(some, {}, occasion::acknowledged), flush_reason::handled);
  EXPECT_EQ(must_flush(some, {}, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 64, .is_burst = true, .batch = 64}, {}, occasion::added), flush_reason::handled);
  EXPECT_EQ(must_flush({.parcels = 2, .age_ns = 3'000, .is_burst = true, .batch = 64}, {}, occasion::other_idle),
            flush_reason::age);
}

// One message is handled and another lies ready; what comes then waits, but not for long.
TEST(flush_rules, adaptive_keep_two_messages_under_way) {
  for (const std::uint64_t under_way : {0, 1, 2, 3}) {
    const queue_state batch{.parcels = 8, .age_ns = 100, .under_way = under_way, .batch = 8, .message_ns = 5'000};
    const flush_reason when_added = under_way == 0   ? flush_reason::handled
                                    : under_way == 1 ? flush_reason::batch
                                                     : flush_reason::none;
    EXPECT_EQ(must_flush(batch, {}, occasion::added), when_added) << under_way;
    EXPECT_EQ(must_flush(batch, {}, occasion::own_idle) != flush_reason::none, under_way < 2) << under_way;
    queue_state awaited = batch;
    awaited.is_awaited = true;
    EXPECT_EQ(must_flush(awaited, {}, occasion::acknowledged) != flush_reason::none, under_way < 2) << under_way;
    EXPECT_NE(must_flush(batch, {.most_under_way = 4}, occasion::added), flush_reason::none) << under_way;
    queue_state old = batch;
    old.age_ns = 5'000;
    EXPECT_NE(must_flush(old, {}, occasion::own_idle), flush_reason::none) << under_way;
  }
}

TEST(flush_rules, a_message_costs_a_small_share_of_its_parcels) {
  EXPECT_EQ(batch_of({.message_share = 25}, 5'000, 50), 400u);
  EXPECT_EQ(batch_of({.message_share = 100}, 5'000, 50), 100u);
  EXPECT_EQ(batch_of({.message_share = 100}, 10, 50), 1u);
  EXPECT_EQ(batch_of({.batch = 3, .message_share = 100}, 5'000, 50), 3u);
  EXPECT_EQ(batch_of({.message_share = 0}, 500, 50), 1000u);
  EXPECT_EQ(batch_of({.message_share = 1}, ~std::uint32_t{0}, 0), 1u << 20);
}

TEST(burst_forecast, expects_what_has_happened_before) {
  burst_forecast forecast;
  EXPECT_FALSE(forecast.is_expected());
  forecast.sent(1, 0, flush_reason::handled);
  forecast.first_added(100, false, 200);
  forecast.sent(5, 50, flush_reason::sender_waits);
  EXPECT_FALSE(forecast.is_expected()) << "the sender has not looked up yet";
  forecast.first_added(100, true, 200);
  EXPECT_TRUE(forecast.is_expected());
  const auto alone = [&] {
    forecast.sent(1, 0, flush_reason::handled);
    forecast.first_added(100, true, 200);
  };
  for (int i = 0; i < 20; ++i) alone();
  EXPECT_FALSE(forecast.is_expected());
}

// A burst now and then is reason enough to wait, as long as the sender soon has nothing else to do.
TEST(burst_forecast, outlives_single_parcels_in_between) {
  burst_forecast forecast;
  for (int i = 0; i < 20; ++i) {
    forecast.sent(i % 2 == 0 ? 31 : 1, 50, flush_reason::sender_waits);
    forecast.first_added(100, true, 200);
  }
  EXPECT_TRUE(forecast.is_expected());
}

// A parcel every 20 us from a sender that computes in between.
TEST(burst_forecast, takes_slow_parcels_for_single_ones) {
  burst_forecast forecast;
  for (int i = 0; i < 20; ++i) {
    forecast.sent(1, 0, flush_reason::handled);
    forecast.first_added(20'000, false, 5'000);
    EXPECT_FALSE(forecast.is_expected());
  }
  // Some of them together, because the receiver was busy.
  for (int i = 0; i < 20; ++i) {
    forecast.sent(10, 20'000, flush_reason::handled);
    forecast.first_added(20'000, false, 5'000);
    EXPECT_FALSE(forecast.is_expected());
  }
}

TEST(burst_forecast, is_not_made_again_soon_after_a_parcel_was_late) {
  burst_forecast forecast;
  const auto burst = [&] {
    forecast.sent(10, 50, flush_reason::sender_waits);
    forecast.first_added(100, true, 200);
  };
  for (int i = 0; i < 100; ++i) burst();
  forecast.sent(2, 500, flush_reason::age);
  EXPECT_TRUE(forecast.is_expected());
  forecast.sent(1, 250'000, flush_reason::age);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(forecast.is_expected());
    burst();
  }
  for (int i = 0; i < 10; ++i) burst();
  EXPECT_TRUE(forecast.is_expected());
}

TEST(flush_rules, adaptive_send_what_an_idle_sender_has_queued) {
  EXPECT_EQ(must_flush({.parcels = 1, .under_way = 1}, {}, occasion::own_idle), flush_reason::sender_waits);
  EXPECT_EQ(must_flush({.parcels = 1, .under_way = 9}, {}, occasion::own_leaves), flush_reason::sender_waits);
  const queue_state young{.parcels = 1, .age_ns = 1'999, .under_way = 1, .batch = 2, .message_ns = 100};
  EXPECT_EQ(must_flush(young, {}, occasion::other_idle), flush_reason::none);
  queue_state old = young;
  old.age_ns = 2'000;
  EXPECT_EQ(must_flush(old, {}, occasion::other_idle), flush_reason::age);
  old.message_ns = 9'000;
  EXPECT_EQ(must_flush(old, {}, occasion::other_idle), flush_reason::none);
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

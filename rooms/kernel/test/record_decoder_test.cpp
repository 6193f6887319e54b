#include "trimtab/kernel/record_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "record_samples.hpp"

namespace trimtab::kernel {

using namespace samples;

TEST(record_decoder, knows_switches_and_whether_who_leaves_could_go_on) {
  record_decoder decoder = texts().decoder();
  const struct {
    std::int64_t state;
    bool can_run;
  } cases[] = {{0, true}, {0x100, true}, {1, false}, {2, false}, {0x10, false}, {0x80, false}, {0x101, false}};
  for (const auto& one : cases) {
    const bytes record = sample_of(raw_switch(11, one.state, 77));  // the names stay where they are
    const auto event = decoder.decode(record, 0);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, event_kind::switched);
    EXPECT_EQ(event->time_ns, 5'000u);
    EXPECT_EQ(event->cpu, 3);
    EXPECT_EQ(event->thread, 11u);
    EXPECT_EQ(event->other, 77u);
    EXPECT_EQ(event->process, 10u);
    EXPECT_EQ(event->own_number, 11u);
    EXPECT_EQ(decoder.last_names().thread, "leaving");
    EXPECT_EQ(decoder.last_names().other, "fifteen letters");
    EXPECT_EQ(event->can_run != 0, one.can_run) << one.state;
  }
}

TEST(record_decoder, knows_wake_ups_and_by_whom) {
  record_decoder decoder = texts().decoder();
  for (const std::uint16_t id : {std::uint16_t{374}, std::uint16_t{373}}) {
    const auto event = decoder.decode(sample_of(raw_wakeup(id, 0x01, 99, 5)), 0);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, event_kind::woken);
    EXPECT_EQ(event->thread, 99u);
    EXPECT_EQ(event->other, 11u);
    EXPECT_EQ(event->target_cpu, 5);
  }
  for (const std::uint8_t interrupt : {std::uint8_t{0x08}, std::uint8_t{0x10}, std::uint8_t{0x19}}) {
    const auto event = decoder.decode(sample_of(raw_wakeup(374, interrupt, 99, 5)), 0);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->other, 0u) << "whoever ran then did not wake it";
  }
}

TEST(record_decoder, knows_moves_and_losses) {
  record_decoder decoder = texts().decoder();
  bytes raw(40);
  put(raw, 0, std::uint16_t{371});
  put(raw, 24, std::int32_t{42});
  put(raw, 36, std::int32_t{6});
  const auto moved = decoder.decode(sample_of(raw), 0);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->kind, event_kind::moved);
  EXPECT_EQ(moved->thread, 42u);
  EXPECT_EQ(moved->target_cpu, 6);

  bytes lost;
  put(lost, 0, std::uint64_t{1});
  put(lost, 8, std::uint64_t{250});
  put(lost, 16, std::uint64_t{0});
  put(lost, 24, std::uint64_t{7'000});
  put(lost, 32, std::uint64_t{0});
  const auto event = decoder.decode(with_header(PERF_RECORD_LOST, lost), 9);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, event_kind::lost);
  EXPECT_EQ(event->thread, 250u);
  EXPECT_EQ(event->time_ns, 7'000u);
  EXPECT_EQ(event->cpu, 9);
}

TEST(record_decoder, knows_who_made_a_thread) {
  record_decoder decoder = texts().decoder();
  const auto made = decoder.decode(sample_of(raw_fork(500, 11)), 0);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kind, event_kind::forked);
  EXPECT_EQ(made->thread, 500u);
  EXPECT_EQ(made->other, 11u);
  EXPECT_EQ(made->process, 10u);
  EXPECT_TRUE(decoder.last_names().thread.empty());
}

TEST(record_decoder, knows_how_long_a_thread_ran) {
  record_decoder decoder = texts().decoder();
  const auto event = decoder.decode(sample_of(raw_runtime(42, 3'999'000)), 0);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, event_kind::ran);
  EXPECT_EQ(event->thread, 42u);
  EXPECT_EQ(event->other, 3'999'000u);
  EXPECT_EQ(decoder.decode(sample_of(raw_runtime(42, std::uint64_t{1} << 40)), 0)->other, 0xffffffffu);
}

TEST(record_decoder, a_kernel_need_not_tell_how_long_threads_run) {
  texts without;
  without.sched_stat_runtime.clear();
  record_decoder decoder = without.decoder();
  EXPECT_EQ(decoder.ids().size() + 1, texts().decoder().ids().size());
  EXPECT_FALSE(decoder.decode(sample_of(raw_runtime(42, 5)), 0));
  EXPECT_EQ(decoder.faults().unknown, 1u);
}

TEST(record_decoder, counts_what_it_does_not_understand) {
  record_decoder decoder = texts().decoder();
  EXPECT_FALSE(decoder.decode(sample_of(raw_wakeup(999, 0, 1, 1)), 0));
  EXPECT_EQ(decoder.faults().unknown, 1u);
  const bytes whole = sample_of(raw_switch(11, 0, 77));
  for (std::size_t size = 0; size < whole.size() - 4; ++size)
    EXPECT_FALSE(decoder.decode(std::span(whole).first(size), 0)) << size;
  EXPECT_GT(decoder.faults().truncated, 30u);
  EXPECT_FALSE(decoder.decode(with_header(PERF_RECORD_COMM, bytes(40)), 0)) << "no event of the scheduler, and no fault";
}

TEST(record_decoder, survives_random_bytes) {
  record_decoder decoder = texts().decoder();
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    bytes record = sample_of(raw_switch(11, 0, 77));
    for (int change = 0; change < 3; ++change) record[random() % record.size()] = static_cast<std::byte>(random());
    record.resize(random() % (record.size() + 1));
    decoder.decode(record, 0);
  }
}

TEST(record_decoder, a_field_that_is_missing_is_named) {
  texts formats;
  formats.sched_wakeup = format_of("sched_wakeup", 374, of_migration);
  try {
    formats.decoder();
    FAIL();
  } catch (const format_error& error) {
    EXPECT_STREQ(error.what(), "tracepoint sched_wakeup: it has no field 'target_cpu'");
  }
}

}  // namespace trimtab::kernel

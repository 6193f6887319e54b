#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <random>
#include <set>

#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

TEST(lane, flight_recorder_keeps_the_last_events) {
  scratch_run run;
  open_recorder recorder(run, record_level::profile, 1 << 20, keep::first, 128);
  lane* const mine = recorder->open_lane();
  for (std::uint64_t i = 0; i < 1000; ++i) mine->record(event_kind::mark, 1, 0, i, 0, i);
  const auto bytes = bytes_of(recorder.file("lane-0000.events"));
  const file_header head = header_of(bytes);
  EXPECT_EQ(head.capacity, 128u);
  EXPECT_EQ(head.written, 1001u);
  EXPECT_EQ(head.dropped, 0u);
  auto events = records_of<event>(bytes);
  ASSERT_EQ(events.size(), 128u);
  EXPECT_EQ(events[(head.written - 1) % 128].a, 999u);
  EXPECT_EQ(events[head.written % 128].a, 1000u - 128u);
}

TEST(lane, a_trace_grows_when_the_sampler_makes_it_ready_and_loses_nothing) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace);
  lane* const mine = recorder->open_lane();
  constexpr std::uint64_t count = 100'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    mine->record(event_kind::mark, 1, 0, i, 0, i);
    if (i % 1000 == 0) recorder->make_streams_ready();
  }
  const auto bytes = bytes_of(recorder.file("lane-0000.events"));
  EXPECT_EQ(header_of(bytes).dropped, 0u);
  const auto events = records_of<event>(bytes);
  ASSERT_EQ(events.size(), count + 1);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(events[i + 1].a, i);
}

// Whether the page at `address` can be written without a fault.
bool is_mapped(const void* address) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const int table = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::uint64_t entry = 0;
  const std::uint64_t at = reinterpret_cast<std::uintptr_t>(address) / page * sizeof entry;
  EXPECT_EQ(pread(table, &entry, sizeof entry, static_cast<off_t>(at)), static_cast<ssize_t>(sizeof entry));
  close(table);
  return (entry >> 63) != 0;
}

const event* first_event_of(lane& which) {
  const auto* const file = reinterpret_cast<const char*>(&which.header()) - sizeof(file_header);
  return reinterpret_cast<const event*>(file + header_bytes);
}

TEST(lane, pages_of_a_trace_are_made_as_fast_as_it_is_written) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace);
  lane* const mine = recorder->open_lane();
  const event* const events = first_event_of(*mine);
  EXPECT_TRUE(is_mapped(events));
  EXPECT_FALSE(is_mapped(events + 60'000)) << "nobody needs it yet";
  std::uint64_t written = 1;
  for (const std::uint64_t batch : {1'000u, 10'000u}) {
    recorder->make_streams_ready();
    for (std::uint64_t i = 0; i < batch; ++i) mine->record(event_kind::mark, 1, 0, i, 0, i);
    written += batch;
    recorder->make_streams_ready();
    EXPECT_TRUE(is_mapped(events + written + batch));
  }
  EXPECT_FALSE(is_mapped(events + 60'000));
}

TEST(lane, later_pages_of_a_flight_recorder_are_made_at_once_by_the_lane_that_comes_to_them) {
  scratch_run run;
  open_recorder recorder(run, record_level::profile);
  lane* const mine = recorder->open_lane();
  const event* const events = first_event_of(*mine);
  EXPECT_TRUE(is_mapped(events + 1000)) << "short programs make none themselves";
  EXPECT_FALSE(is_mapped(events + 2000)) << "nobody needs it yet";
  std::uint64_t i = 0;
  for (; i < 1100; ++i) mine->record(event_kind::mark, 1, 0, i, 0, i);
  EXPECT_TRUE(is_mapped(events + 2000));
  EXPECT_TRUE(is_mapped(events + 4000)) << "one page fault after the other";
  for (; i < 6000; ++i) mine->record(event_kind::mark, 1, 0, i, 0, i);
  const auto bytes = bytes_of(recorder.file("lane-0000.events"));
  const file_header head = header_of(bytes);
  EXPECT_EQ(head.written, 6001u);
  EXPECT_EQ(head.dropped, 0u);
  const auto found = records_of<event>(bytes);
  ASSERT_EQ(found.size(), 4096u);
  for (std::uint64_t at = head.written - 4096; at < head.written; ++at) EXPECT_EQ(found[at % 4096].a + 1, at);
}

TEST(lane, a_full_trace_that_keeps_the_first_drops_and_counts) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace, 20'000 * sizeof(event));
  lane* const mine = recorder->open_lane();
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    mine->record(event_kind::mark, 1, 0, i, 0, i);
    if (i % 1000 == 0) recorder->make_streams_ready();
  }
  const auto bytes = bytes_of(recorder.file("lane-0000.events"));
  const file_header head = header_of(bytes);
  EXPECT_GT(head.dropped, 0u);
  EXPECT_EQ(head.written + head.dropped, 50'001u);
  EXPECT_LE(head.capacity * sizeof(event), 20'000 * sizeof(event));
  const auto events = records_of<event>(bytes);
  EXPECT_EQ(events[1].a, 0u);
}

TEST(lane, a_full_trace_that_keeps_the_last_wraps) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace, 20'000 * sizeof(event), keep::last);
  lane* const mine = recorder->open_lane();
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    mine->record(event_kind::mark, 1, 0, i, 0, i);
    if (i % 1000 == 0) recorder->make_streams_ready();
  }
  const auto bytes = bytes_of(recorder.file("lane-0000.events"));
  const file_header head = header_of(bytes);
  const auto events = records_of<event>(bytes);
  EXPECT_GT(head.written, head.capacity);
  EXPECT_EQ(events[(head.written - 1) % head.capacity].a, 49'999u);
}

TEST(lane, rows_are_found_again_and_kept_apart_for_thousands_of_subjects) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  const auto seed = std::random_device{}();
  RecordProperty("seed", static_cast<int>(seed));
  std::mt19937 random(seed);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> expected;
  for (int i = 0; i < 50'000; ++i) {
    const auto subject = static_cast<std::uint32_t>(random() % 300);
    const auto about = static_cast<std::uint32_t>(random() % 4);
    const auto region = random() % 2 == 0 ? no_subject : static_cast<std::uint32_t>(random() % 3);
    lane::add(mine->row(subject, metric::wait, about, region), 1);
    expected[{subject, about, region}] += 1;
  }
  const auto bytes = bytes_of(recorder.file("lane-0000.profile"));
  EXPECT_EQ(header_of(bytes).dropped, 0u);
  const auto rows = records_of<profile_row>(bytes);
  ASSERT_EQ(rows.size(), expected.size()) << "seed " << seed;
  for (const profile_row& row : rows) EXPECT_EQ(row.count, (expected[{row.subject, row.about, row.in_region}]));
}

TEST(lane, a_row_of_no_subject_is_dropped_and_counted) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  EXPECT_EQ(mine->row(no_subject, metric::wait, 0, no_subject), nullptr);
  EXPECT_EQ(header_of(bytes_of(recorder.file("lane-0000.profile"))).dropped, 1u);
}

// Numbers that differ only in bits that a packed key might not have.
TEST(lane, rows_of_any_numbers_are_distinct) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  std::set<profile_row*> rows;
  for (const std::uint32_t number : {0u, 1u << 12, 1u << 16, 1u << 20, 1u << 31}) {
    rows.insert(mine->row(number, metric::wait, 7, 7));
    rows.insert(mine->row(7, metric::wait, number, 7));
    rows.insert(mine->row(7, metric::wait, 7, number));
  }
  for (const unsigned flags : {0u, 1u << 8, 1u << 15})
    rows.insert(mine->row(7, metric::wait, 7, 8, static_cast<std::uint16_t>(flags)));
  EXPECT_EQ(rows.size(), 18u);
  EXPECT_FALSE(rows.contains(nullptr));
  EXPECT_EQ(rows.count(mine->row(7, metric::wait, 1u << 20, 7)), 1u);
}

TEST(lane, a_row_sums_and_sorts_durations_into_buckets_of_powers_of_two) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  profile_row* const row = mine->own_row(1, metric::scope);
  for (const std::uint64_t ticks : {0u, 1u, 2u, 3u, 4u, 1000u}) lane::add(row, ticks);
  EXPECT_EQ(row->count, 6u);
  EXPECT_EQ(row->sum, 1010u);
  EXPECT_EQ(row->min, 0u);
  EXPECT_EQ(row->max, 1000u);
  EXPECT_EQ(row->histogram[0], 1u);
  EXPECT_EQ(row->histogram[1], 1u);
  EXPECT_EQ(row->histogram[2], 2u);
  EXPECT_EQ(row->histogram[3], 1u);
  EXPECT_EQ(row->histogram[10], 1u);
  EXPECT_EQ(lane::bucket(~std::uint64_t{0}), histogram_buckets - 1);
}

TEST(lane, scopes_count_all_and_time_short_ones_by_sampling) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  std::uint64_t count = 0;
  const auto go = [&](std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      mine->scope_begin(3);
      mine->scope_end(3);
    }
    count += times;
  };
  const profile_row* const row = mine->own_row(3, metric::scope);
  // A machine that takes the CPU away makes scopes look long, and long ones are all timed: until that has evened out.
  for (int round = 0; round < 100 && row->timed == count; ++round) go(10'000);
  const std::uint64_t timed = row->timed;
  go(100'000);
  EXPECT_EQ(row->count, count);
  EXPECT_LT(row->timed, count);
  EXPECT_GE(row->timed - timed, 100'000u / 32);
}

TEST(lane, a_trace_times_every_scope) {
  scratch_run run;
  open_recorder recorder(run, record_level::trace);
  lane* const mine = recorder->open_lane();
  for (int i = 0; i < 2000; ++i) {
    mine->scope_begin(3);
    mine->scope_end(3);
  }
  EXPECT_EQ(mine->own_row(3, metric::scope)->timed, 2000u);
}

TEST(lane, scopes_that_end_out_of_order_or_never_began_do_no_harm) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  mine->scope_end(1);
  mine->scope_begin(1);
  mine->scope_begin(2);
  mine->scope_end(1);  // closes down to 1
  mine->scope_end(2);  // was closed with it
  EXPECT_EQ(mine->own_row(1, metric::scope)->count, 1u);
  for (int i = 0; i < 200; ++i) mine->scope_begin(1);
  for (int i = 0; i < 200; ++i) mine->scope_end(1);
  mine->scope_begin(4);
  mine->scope_end(4);
  EXPECT_EQ(mine->own_row(4, metric::scope)->count, 1u);
}

TEST(lane, time_of_inner_tasks_is_taken_out_of_the_outer_one) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  mine->task_begin(1, 10, 100);
  mine->task_begin(2, 11, 150);
  EXPECT_EQ(mine->task_ends(2, 11, 180), 30u);
  EXPECT_EQ(mine->task_ends(1, 10, 200), 100u);
  EXPECT_EQ(mine->own_row(1, metric::task)->sum, 70u);
  EXPECT_EQ(mine->own_row(1, metric::task)->x[task_fields::inclusive], 100u);
  EXPECT_EQ(mine->own_row(2, metric::task)->sum, 30u);
}

}  // namespace
}  // namespace trimtab::observe::testing

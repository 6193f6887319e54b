// What readers learn of events that a ring has overwritten.
#include <gtest/gtest.h>

#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

constexpr std::uint32_t ring = 128;  // a page: files are whole ones
constexpr std::uint32_t loop_subject = 40, region_subject = 41;

struct ring_summary : ::testing::Test {
  void put(event_kind kind, std::uint16_t arg, std::uint64_t a, std::uint64_t b = 0) {
    mine->record(kind, region_subject, arg, a, b, 1000 + ++m_events);
  }
  void fill(unsigned loops) {
    for (unsigned i = 0; i < loops; ++i) mine->record(event_kind::loop, loop_subject, 0, 1, 1, 2000 + ++m_events);
  }
  lane_header head() { return second_header_of<lane_header>(bytes_of(recorder.file("lane-0000.events"))); }

  scratch_run run;
  open_recorder recorder{run, record_level::profile, std::uint64_t{1} << 30, keep::first, ring};
  lane* mine = recorder->open_lane();  // its event comes first

 private:
  std::uint64_t m_events = 0;
};

TEST_F(ring_summary, is_empty_while_the_ring_holds_everything) {
  put(event_kind::region_begin, 1, 7);
  fill(ring - 2);
  EXPECT_EQ(head().summarized_events, 0u);
  EXPECT_EQ(head().region_ticks, 0u);
}

TEST_F(ring_summary, keeps_the_region_and_the_part_that_are_open) {
  put(event_kind::region_begin, 1, 7);
  put(event_kind::work_begin, 0, 7);
  fill(5 * ring);
  const lane_header found = head();
  EXPECT_EQ(found.summarized_events, 5 * ring);
  EXPECT_EQ(found.region_ticks, 1001u);
  EXPECT_EQ(found.region_instance, 7u);
  EXPECT_EQ(found.region_subject, region_subject);
  EXPECT_EQ(found.part_ticks, 1002u);
  EXPECT_EQ(found.part_instance, 7u);
  EXPECT_EQ(found.part_subject, region_subject);
}

TEST_F(ring_summary, forgets_what_has_ended) {
  put(event_kind::region_begin, 1, 7);
  put(event_kind::work_begin, 0, 7);
  fill(ring);
  put(event_kind::work_end, 0, 7);
  put(event_kind::region_end, 1, 7);
  fill(ring);
  EXPECT_EQ(head().region_ticks, 0u);
  EXPECT_EQ(head().part_ticks, 0u);
  EXPECT_EQ(head().part_wait, 0u);
}

TEST_F(ring_summary, nested_regions_and_parts_leave_the_outermost_open) {
  put(event_kind::region_begin, 1, 7);
  put(event_kind::work_begin, 0, 7);
  put(event_kind::region_begin, 2, 8);
  put(event_kind::work_begin, 0, 8);
  fill(ring);
  put(event_kind::work_end, 0, 8);
  put(event_kind::region_end, 2, 8);
  fill(ring);
  EXPECT_EQ(head().region_ticks, 1001u);
  EXPECT_EQ(head().part_ticks, 1002u);
  EXPECT_EQ(head().part_instance, 7u);
}

TEST_F(ring_summary, sums_the_waits_of_the_part_and_no_others) {
  put(event_kind::work_begin, 0, 7);
  put(event_kind::wait, 2, 100, 7);
  put(event_kind::work_begin, 0, 8);  // of a region within
  put(event_kind::wait, 2, 1, 8);
  put(event_kind::work_end, 0, 8);
  put(event_kind::wait, 2, 1000, 7);
  fill(2 * ring);
  put(event_kind::wait, 2, 10'000, 7);
  fill(ring);
  EXPECT_EQ(head().part_wait, 11'100u);
}

TEST_F(ring_summary, a_part_of_an_unknown_instance_has_the_waits_outside_inner_parts) {
  put(event_kind::work_begin, 0, 0);
  put(event_kind::wait, 2, 100, 7);
  put(event_kind::work_begin, 0, 8);
  put(event_kind::wait, 2, 1, 8);
  put(event_kind::work_end, 0, 8);
  fill(ring);
  EXPECT_EQ(head().part_instance, 0u);
  EXPECT_EQ(head().part_wait, 100u);
}

TEST_F(ring_summary, the_next_thread_of_the_lane_begins_anew) {
  put(event_kind::work_begin, 0, 7);
  fill(ring);
  recorder->close_lane(*mine);
  ASSERT_EQ(recorder->open_lane(), mine);
  fill(ring);
  EXPECT_EQ(head().part_ticks, 0u);
}

}  // namespace
}  // namespace trimtab::observe::testing

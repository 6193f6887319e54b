// What programs declare, what their events cost, and the values that they see; without a run.
#include "trimtab/observe/program_knobs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>

namespace trimtab::observe {
namespace {

constexpr double long_s = 1e-3;  // enough for a sum of its own

trimtab_knob_declaration range_of(const char* name, std::int64_t least, std::int64_t most, std::int64_t step,
                                  std::int64_t initial) {
  return {sizeof(trimtab_knob_declaration), name, least, most, step, nullptr, 0, nullptr, initial};
}
trimtab_knob_declaration names_of(const char* name, const char* names, std::int64_t initial) {
  return {sizeof(trimtab_knob_declaration), name, 0, 0, 0, nullptr, 0, names, initial};
}
template <std::size_t count>
trimtab_knob_declaration list_of(const char* name, const std::int64_t (&values)[count], std::int64_t initial) {
  return {sizeof(trimtab_knob_declaration), name, 0, 0, 0, values, count, nullptr, initial};
}

class knobs_of_programs : public ::testing::Test {
 protected:
  std::uint32_t declare(const trimtab_knob_declaration& declared) { return works.declare(work, declared); }
  std::vector<std::int64_t> in_force() const { return {work.in_force->value, work.in_force->value + work.in_force->count}; }
  program_works works;
  program_work& work = *works.add("solve", 7);
};

TEST_F(knobs_of_programs, have_their_initial_values) {
  constexpr std::int64_t sizes[] = {64, 8, 8};
  EXPECT_EQ(declare(range_of("tile", 16, 512, 16, 64)), 1u);
  EXPECT_EQ(declare(list_of("size", sizes, 8)), 2u);
  EXPECT_EQ(declare(names_of("order", "rows,columns", 1)), 3u);
  EXPECT_EQ(in_force(), (std::vector<std::int64_t>{64, 8, 1}));
  const std::vector<declared_knob> knobs = works.knobs_of(work);
  ASSERT_EQ(knobs.size(), 3u);
  EXPECT_EQ(knobs[1].values, (std::vector<std::int64_t>{8, 64}));
  EXPECT_EQ(knobs[2].names, (std::vector<std::string>{"rows", "columns"}));
}

TEST_F(knobs_of_programs, are_refused_where_their_declaration_is_wrong) {
  constexpr std::int64_t sizes[] = {8, 64};
  const trimtab_knob_declaration wrong[] = {
      range_of("tile", 512, 16, 16, 64),
      range_of("tile", 16, 512, 0, 64),
      range_of("tile", 16, 512, -1, 64),
      range_of("tile", 16, 512, 16, 65),
      range_of("tile", 16, 512, 16, 528),
      range_of("", 16, 512, 16, 64),
      range_of("a b", 16, 512, 16, 64),
      range_of(nullptr, 16, 512, 16, 64),
      range_of("tile", 0, 1 << 20, 1, 0),
      list_of("size", sizes, 9),
      names_of("order", "rows,columns", 2),
      names_of("order", "rows,columns", -1),
      names_of("order", "rows,rows", 0),
      names_of("order", "rows,,columns", 0),
      names_of("order", "", 0),
      range_of("tile", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 1, 0)};
  for (const trimtab_knob_declaration& each : wrong) EXPECT_EQ(declare(each), 0u) << &each - wrong;
  EXPECT_TRUE(works.knobs_of(work).empty());
  EXPECT_EQ(work.in_force->count, 0u);
}

TEST_F(knobs_of_programs, are_the_same_where_they_are_declared_alike) {
  EXPECT_EQ(works.add("solve", 7), &work);
  EXPECT_EQ(declare(range_of("tile", 16, 512, 16, 64)), 1u);
  EXPECT_EQ(declare(range_of("tile", 16, 512, 16, 64)), 1u);
  EXPECT_EQ(declare(range_of("tile", 16, 512, 16, 32)), 0u) << "another initial value";
  EXPECT_EQ(declare(names_of("tile", "small,large", 0)), 0u);
  EXPECT_EQ(works.knobs_of(work).size(), 1u);
}

TEST_F(knobs_of_programs, are_eight_of_a_work_and_works_are_64) {
  for (char name[] = "a"; name[0] < 'i'; ++name[0]) EXPECT_NE(declare(range_of(name, 0, 1, 1, 0)), 0u) << name;
  EXPECT_EQ(declare(range_of("i", 0, 1, 1, 0)), 0u);
  for (std::size_t i = 1; i < program_works::most; ++i) EXPECT_NE(works.add(std::to_string(i).c_str(), 7), nullptr);
  EXPECT_EQ(works.add("one more", 7), nullptr);
  EXPECT_EQ(works.add("solve", 7), &work);
}

TEST_F(knobs_of_programs, do_not_change_within_an_event) {
  const trimtab_knob tile{declare(range_of("tile", 16, 512, 16, 64)), 64};
  const trimtab_event event{&work, work.in_force, 0};
  const std::int64_t other[] = {128};
  work.publish(3, other);
  EXPECT_EQ(trimtab_knob_value(&event, tile), 64);
  const trimtab_event next{&work, work.in_force, 0};
  EXPECT_EQ(trimtab_knob_value(&next, tile), 128);
  EXPECT_EQ(next.values->decision, 3u);
  const trimtab_knob later{declare(range_of("later", 1, 9, 1, 5)), 5};
  EXPECT_EQ(trimtab_knob_value(&next, later), 5) << "declared within it";
  EXPECT_EQ(in_force(), (std::vector<std::int64_t>{128, 5}));
  EXPECT_EQ(trimtab_knob_value(&next, {0, 7}), 7) << "not tuned";
}

TEST_F(knobs_of_programs, begin_with_what_earlier_runs_found) {
  works.measure({{"solve", "tile", "128"}, {"solve", "order", "columns"}, {"solve", "size", "7"}, {"other", "step", "2"}});
  constexpr std::int64_t sizes[] = {8, 64};
  declare(range_of("step", 1, 9, 1, 1));
  EXPECT_EQ(work.in_force->decision, 0u);
  declare(range_of("tile", 16, 512, 16, 64));
  declare(names_of("order", "rows,columns", 0));
  declare(list_of("size", sizes, 8));
  EXPECT_EQ(in_force(), (std::vector<std::int64_t>{1, 128, 1, 8})) << "7 is no size";
  EXPECT_EQ(work.in_force->decision, decision_of_earlier_run);
}

TEST_F(knobs_of_programs, are_the_programs_own_in_the_child_of_a_fork) {
  works.measure({{"solve", "tile", "128"}});
  declare(range_of("tile", 16, 512, 16, 64));
  works.leave();
  EXPECT_EQ(in_force(), (std::vector<std::int64_t>{64}));
  EXPECT_FALSE(works.are_measured());
  EXPECT_EQ(declare(range_of("late", 0, 1, 1, 0)), 0u);
  EXPECT_EQ(works.add("solve", 7), nullptr);
}

TEST_F(knobs_of_programs, are_measured_by_long_events_alone_and_short_ones_together) {
  EXPECT_FALSE(work.has_events());
  work.add(0, 5, long_s);
  for (int i = 0; i < 3; ++i) work.add(1, 2, 80e-6);
  work.add(1, 9, 10e-6);  // not enough yet
  work.add(2, 4, long_s);
  const std::vector<event_sum> sums = work.take();
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(std::pair(sums[0].decision, sums[0].cost), std::pair(std::uint64_t{0}, 5.0));
  EXPECT_EQ(sums[1].events, 3u);
  EXPECT_EQ(std::pair(sums[1].decision, sums[1].cost), std::pair(std::uint64_t{1}, 6.0));
  EXPECT_EQ(std::pair(sums[2].decision, sums[2].cost), std::pair(std::uint64_t{2}, 4.0)) << "none of another decision's";
  EXPECT_TRUE(work.take().empty());
  EXPECT_TRUE(work.has_events());
}

TEST_F(knobs_of_programs, are_not_measured_by_what_is_no_number) {
  for (const double wrong : {std::nan(""), -1.0, HUGE_VAL}) {
    work.add(0, wrong, long_s);
    work.add(0, 1, wrong);
  }
  EXPECT_TRUE(work.take().empty());
  EXPECT_FALSE(work.has_events());
}

TEST_F(knobs_of_programs, keep_the_oldest_where_nobody_takes_them) {
  for (int i = 0; i < 1000; ++i) work.add(0, i, long_s);
  std::vector<event_sum> sums = work.take();
  ASSERT_EQ(sums.size(), 256u);
  EXPECT_EQ(sums.front().cost, 0);
  work.add(0, 7, long_s);
  sums = work.take();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums.front().cost, 7);
}

// Each event costs the number of its decision, so a sum that mixed decisions would show.
TEST_F(knobs_of_programs, are_measured_by_several_threads) {
  constexpr int each = 20'000;
  std::atomic<int> running{3};
  std::vector<std::thread> threads;
  for (std::uint64_t decision = 1; decision <= 3; ++decision)
    threads.emplace_back([&, decision] {
      for (int i = 0; i < each; ++i) work.add(decision, static_cast<double>(decision), 150e-6);
      running -= 1;
    });
  std::uint64_t events = 0;
  for (bool is_last = false; !is_last;) {
    is_last = running == 0;
    for (const event_sum& sum : work.take()) {
      ASSERT_EQ(sum.cost, static_cast<double>(sum.decision * sum.events));
      ASSERT_NEAR(sum.seconds, 150e-6 * static_cast<double>(sum.events), 1e-9);
      events += sum.events;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(events, 0u);
  EXPECT_LE(events, 3u * each);
}

}  // namespace
}  // namespace trimtab::observe

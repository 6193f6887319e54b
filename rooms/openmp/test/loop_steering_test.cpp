// Which regions' loops the steering thread has watched in all their instances.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "made_up_record.hpp"
#include "steering/steered_loops.hpp"
#include "steering/watching.hpp"
#include "trimtab/openmp/steering.hpp"

namespace trimtab::openmp {
namespace {

using observe::the_recorder;

char short_region, long_region, uneven_region, mixed_region, alone_region, sized_region, slow_region, early_region,
    restless_region, known_region, brief_region, unlucky_region, mended_region;
bool rests(const void* outlined) { return watching_of(outlined) == watching::rarely; }

class loops_to_watch : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(prepare_sites()); }
  void TearDown() override {
    forget_watching();
    // Theirs for as long as the process, since members write there and read their plans; sites are in memory that those who
    // look for leaks do not search.
    static auto& plans = *new std::vector<const loop_plan*>;
    for (std::uint32_t i = 0; i < site_count(); ++i) {
      delete[] site_at(i).loads.exchange(nullptr);
      plans.push_back(site_at(i).latest.load());
    }
  }

  static loop_site& site(const void* outlined, std::uint64_t trip = 1000) {
    return *openmp::site_of({outlined, trip, 0, observe::schedule::static_});
  }
  // As a team's first thread does: as many instances as are told together.
  static void passes(loop_site& site_of_loop, double seconds_each, std::uint64_t decision_number = 0) {
    const auto took = static_cast<ticks>(the_recorder.ticks_of_ns(seconds_each * 1e9));
    for (double all = 0; all < 150e-6; all += seconds_each) add_time(site_of_loop, {decision_number, 0, took, 1000, 1, 0});
  }
  void look(loop_steering& steering, double at_s) {
    steer::snapshot now;
    now.time_s = at_s;
    steering.add_to(now);
  }
  steer::board knobs;
  steer::decision_record record{std::make_unique<made_up_record>()};
  steer::knob_registry registry{knobs, record};
};

TEST_F(loops_to_watch, are_those_that_are_long_or_not_known_yet) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = site(&short_region);
  loop_site& lengthy = site(&long_region);
  look(steering, 0.1);
  EXPECT_FALSE(rests(&short_region)) << "nothing is known yet";
  passes(brief, 2e-6);
  passes(lengthy, 800e-6);
  look(steering, 0.2);
  EXPECT_TRUE(rests(&short_region));
  EXPECT_FALSE(rests(&long_region));
  passes(brief, 3e-3);
  look(steering, 0.3);
  EXPECT_TRUE(rests(&short_region)) << "lost its CPU for once";
  for (int i = 0; i < 30; ++i) passes(brief, 5e-4), look(steering, 0.3);
  EXPECT_FALSE(rests(&short_region)) << "grew";
}

TEST_F(loops_to_watch, are_those_of_regions_that_are_long_in_the_mean) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = site(&mixed_region);
  loop_site& lengthy = site(&mixed_region, 10'000);
  for (int i = 0; i < 5; ++i) passes(brief, 2e-6), passes(lengthy, 800e-6);  // 75 and one each
  look(steering, 0.2);
  EXPECT_TRUE(rests(&mixed_region));
  for (int i = 0; i < 30; ++i) passes(brief, 600e-6), passes(lengthy, 800e-6), look(steering, 0.3);
  EXPECT_FALSE(rests(&mixed_region)) << "as many of them";
}

// A loop becomes a subject, and the engine decides so about it.
TEST_F(loops_to_watch, are_those_that_are_changed_for_good_and_not_for_a_trial) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = site(&uneven_region);
  brief.members.store(2);
  brief.subject_1.store(the_recorder.subject(observe::subject_kind::loop, &uneven_region, false) + 1);
  for (int i = 0; i < 4; ++i) passes(brief, 2e-6);
  look(steering, 0.1);
  const auto decided = [&](steer::outcome result_kind, std::uint64_t number, steer::knob_value from, steer::knob_value to) {
    ASSERT_TRUE(knobs.apply({number, 0, brief.subject_1 - 1, result_kind, {{0, from, to}}, "", "", {}, {}}));
    look(steering, 0.1 * static_cast<double>(number));
  };
  ASSERT_TRUE(rests(&uneven_region));
  decided(steer::outcome::trial, 2, 0, 1);
  EXPECT_TRUE(rests(&uneven_region)) << "tried in those that are watched";
  EXPECT_NE(plan_of(brief, steering_epoch), nullptr);
  decided(steer::outcome::kept, 3, 0, 1);
  EXPECT_FALSE(rests(&uneven_region));
  decided(steer::outcome::trial, 4, 1, 0);
  EXPECT_FALSE(rests(&uneven_region)) << "the program's own once more";
  decided(steer::outcome::undone, 5, 0, 1);
  EXPECT_FALSE(rests(&uneven_region));
  decided(steer::outcome::set, 6, 1, 0);
  EXPECT_TRUE(rests(&uneven_region));
}

// What is tried is measured as soon as it can be, also where it makes a long loop short.
TEST_F(loops_to_watch, are_those_that_are_long_as_they_were_written) {
  loop_steering steering(registry, {}, true, true);
  loop_site& lengthy = site(&mended_region);
  lengthy.members.store(2);
  lengthy.subject_1.store(the_recorder.subject(observe::subject_kind::loop, &mended_region, false) + 1);
  for (int i = 0; i < 4; ++i) passes(lengthy, 400e-6);
  look(steering, 0.1);
  const auto decided = [&](steer::outcome result_kind, std::uint64_t number, steer::knob_value from, steer::knob_value to) {
    ASSERT_TRUE(knobs.apply({number, 0, lengthy.subject_1 - 1, result_kind, {{0, from, to}}, "", "", {}, {}}));
  };
  decided(steer::outcome::trial, 2, 0, 1);
  passes(lengthy, 20e-6, 2);
  look(steering, 0.2);
  EXPECT_FALSE(rests(&mended_region));
  decided(steer::outcome::undone, 3, 1, 0);
  passes(lengthy, 20e-6, 3);
  look(steering, 0.3);
  EXPECT_TRUE(rests(&mended_region)) << "it has become short by itself";
}

TEST_F(loops_to_watch, take_less_where_they_are_left_alone) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = site(&brief_region);
  brief.members.store(2);
  brief.subject_1.store(the_recorder.subject(observe::subject_kind::loop, &brief_region, false) + 1);
  const auto report_times = [&](double seconds_each, bool is_unwatched) {
    const auto took = static_cast<ticks>(the_recorder.ticks_of_ns(seconds_each * 1e9));
    for (int i = 0; i < 2000; ++i) add_time(brief, {0, 0, took, 1000, 1, is_unwatched ? 7 * took : 0});
    steer::snapshot now;
    steering.add_to(now);
    return now.subjects.at(0).measured.back();
  };
  EXPECT_NEAR(report_times(5e-6, false).value, 5e-9, 0.01e-9);
  const steer::measurement mostly_unwatched = report_times(5e-6, true);
  EXPECT_NEAR(mostly_unwatched.value, 4.5e-9, 0.01e-9);
  // 20 or 21 of them, as ticks are rounded.
  EXPECT_NEAR(mostly_unwatched.seconds, 8 * 20.5 * 5e-6, 8 * 0.6 * 5e-6) << "of 100 us or more together";
  EXPECT_NEAR(report_times(0.6e-6, true).value, 0.3e-9, 0.01e-9) << "but not next to nothing";
}

TEST_F(loops_to_watch, are_those_that_earlier_runs_have_changed) {
  char key[256];
  ASSERT_TRUE(write_key({&known_region, 1000, 0, observe::schedule::static_}, key, sizeof key));
  static const std::vector<known_plan> plans_saved{
      {key, {0, nullptr, under_what_was_known, sharing::as_written, true, 0, {}}}};
  ASSERT_TRUE(prepare_sites(&plans_saved));
  loop_steering steering(registry, {}, true, true);
  passes(site(&known_region), 2e-6);
  look(steering, 0.1);
  EXPECT_FALSE(rests(&known_region));
}

TEST_F(loops_to_watch, are_all_where_nobody_may_rest) {
  loop_steering steering(registry, {}, true, false);
  passes(site(&short_region), 2e-6);
  look(steering, 1);
  EXPECT_FALSE(rests(&short_region));
}

// Two members, of which one takes so much longer than the mean of both: how uneven that is told to be, if it is told.
class uneven_loops : public loops_to_watch {
 protected:
  static loop_site& watched(const void* outlined, double seconds_each, std::uint64_t trip = 1000) {
    loop_site& loop = site(outlined, trip);
    loop.members.store(2);
    loop.subject_1.store(the_recorder.subject(observe::subject_kind::loop, outlined, false) + 1);
    for (int i = 0; i < 4; ++i) passes(loop, seconds_each);
    return loop;
  }
  std::optional<double> told(loop_steering& steering, loop_site& site_of_loop, double seconds_each, double longer_s,
                             int looks = 3) {
    std::optional<double> sample_found;
    for (int look = 0; look < looks; ++look) {
      passes(site_of_loop, seconds_each);
      for (std::uint32_t number = 0; number < 2; ++number) {
        const double took_s = seconds_each + (number == 0 ? longer_s : -longer_s);
        for (int instance = 0; instance < 4; ++instance)
          add_load(site_of_loop, number, nullptr, static_cast<ticks>(the_recorder.ticks_of_ns(1e9 * took_s)));
      }
      steer::snapshot now;
      now.time_s = m_time_s += 0.1;
      steering.add_to(now);
      for (const steer::subject_state& state : now.subjects)
        if (const auto* const figure_found = steer::find_figure(state.figures, steer::figures::imbalance))
          sample_found = figure_found->value;
    }
    return sample_found;
  }
  double m_time_s = 0;
};

TEST_F(uneven_loops, must_win_more_than_watching_their_region_costs) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = watched(&alone_region, 5e-6);
  EXPECT_EQ(told(steering, brief, 5e-6, 0.7e-6), 1);
  EXPECT_NEAR(told(steering, brief, 5e-6, 1.5e-6).value_or(0), 1.3, 0.02);
}

TEST_F(uneven_loops, must_win_it_for_all_sizes_that_their_region_has) {
  loop_steering steering(registry, {}, true, true);
  watched(&sized_region, 1e-6);
  loop_site& larger = watched(&sized_region, 10e-6, 10'000);
  EXPECT_EQ(told(steering, larger, 10e-6, 1.5e-6), 1) << "one of ten instances or so";
}

TEST_F(uneven_loops, of_long_regions_are_what_they_are) {
  loop_steering steering(registry, {}, true, true);
  EXPECT_NEAR(told(steering, watched(&slow_region, 400e-6), 400e-6, 0.7e-6).value_or(0), 1.00175, 0.0002);
}

TEST_F(uneven_loops, are_told_when_their_region_is_known) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = watched(&early_region, 5e-6);
  EXPECT_EQ(told(steering, brief, 5e-6, 3e-6, 1), std::nullopt);
  EXPECT_NEAR(told(steering, brief, 5e-6, 3e-6).value_or(0), 1.6, 0.02);
}

TEST_F(uneven_loops, are_not_those_of_which_one_member_has_lost_its_CPU) {
  loop_steering steering(registry, {}, true, true);
  loop_site& brief = watched(&unlucky_region, 5e-6);
  EXPECT_EQ(told(steering, brief, 5e-6, 0), 1);
  add_load(brief, 0, nullptr, static_cast<ticks>(the_recorder.ticks_of_ns(3e6)));
  EXPECT_EQ(told(steering, brief, 5e-6, 0), 1);
}

TEST_F(uneven_loops, are_what_they_are_where_nobody_may_rest) {
  loop_steering steering(registry, {}, true, false);
  EXPECT_NEAR(told(steering, watched(&restless_region, 5e-6), 5e-6, 0.7e-6).value_or(0), 1.14, 0.02);
}

}  // namespace
}  // namespace trimtab::openmp

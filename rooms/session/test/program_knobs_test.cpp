// Knobs of the program as subjects of the engine. Durations are made up; nothing is timed.
#include "program_knobs.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::session {
namespace {

using observe::the_program_works;
using steer::knob_value;

std::string key_of(const char* work) { return "program/" + std::string(program_invocation_short_name) + "/" + work; }

void declare(observe::program_work& work, const char* name, knob_value smallest, knob_value largest, knob_value initial) {
  const trimtab_knob_declaration declared{sizeof declared, name, smallest, largest, 1, nullptr, 0, nullptr, initial};
  ASSERT_NE(the_program_works.declare(work, declared), 0u);
}

// Works are the process's: each test has its own.
class program_with_knobs : public ::testing::Test {
 protected:
  explicit program_with_knobs(std::vector<steer::setting> saved = {}) : source(registry, saved) { source.begin(); }
  // Of this work alone.
  steer::snapshot look(const observe::program_work& work) {
    steer::snapshot now;
    source.add_to(now);
    std::erase_if(now.appeared, [&](const steer::subject_info& candidate) { return candidate.id != work.subject(); });
    std::erase_if(now.subjects, [&](const steer::subject_state& candidate) { return candidate.id != work.subject(); });
    std::erase_if(now.gone, [&](steer::subject_id candidate) { return candidate != work.subject(); });
    return now;
  }
  // An event with the values in force: its cost is theirs.
  template <class function>
  static void run(observe::program_work& work, function cost) {
    const double seconds = cost(work.in_force->value);
    work.add(work.in_force->decision, seconds, seconds);
  }
  bool set(const observe::program_work& work, knob_value to, steer::decision_number number) {
    steer::decision decision_made;
    decision_made.number = number;
    decision_made.subject = work.subject();
    decision_made.what = steer::outcome::set;
    decision_made.changes = {{0, 0, to}};
    return knobs.apply(decision_made);
  }

  steer::board knobs;
  std::vector<steer::knob_offer> offered;
  steer::knob_registry registry{knobs, [this](const steer::knob_offer& offer) { offered.push_back(offer); }};
  program_knobs source;
};

constexpr auto a_millisecond = [](const std::int64_t*) { return 1e-3; };

TEST_F(program_with_knobs, offers_a_work_when_its_first_event_has_ended) {
  observe::program_work& work = *the_program_works.add("first", 101);
  declare(work, "tile", 1, 9, 5);
  EXPECT_TRUE(look(work).appeared.empty());
  run(work, a_millisecond);
  const steer::snapshot now = look(work);
  ASSERT_EQ(now.appeared.size(), 1u);
  EXPECT_EQ(now.appeared[0].knobs[0].name, "tile");
  EXPECT_EQ(now.appeared[0].knobs[0].values.size(), 9u);
  EXPECT_EQ(now.appeared[0].knobs[0].initial, 5);
  EXPECT_EQ(registry.key_of(work.subject()), key_of("first"));
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_EQ(now.subjects[0].measured, (std::vector<steer::measurement>{{0, 1e-3, 1e-3}}));
}

TEST_F(program_with_knobs, offers_no_work_without_a_knob) {
  observe::program_work& work = *the_program_works.add("bare", 102);
  run(work, a_millisecond);
  EXPECT_TRUE(look(work).appeared.empty());
}

TEST_F(program_with_knobs, measures_events_under_the_decision_that_they_began_with) {
  observe::program_work& work = *the_program_works.add("decided", 103);
  declare(work, "tile", 1, 9, 5);
  run(work, a_millisecond);
  look(work);
  ASSERT_TRUE(set(work, 7, 3));
  EXPECT_EQ(work.in_force->value[0], 7);
  run(work, a_millisecond);
  const steer::snapshot now = look(work);
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_EQ(now.subjects[0].measured, (std::vector<steer::measurement>{{3, 1e-3, 1e-3}}));
}

TEST_F(program_with_knobs, offers_a_work_anew_with_a_knob_that_is_declared_late) {
  observe::program_work& work = *the_program_works.add("late", 104);
  declare(work, "tile", 1, 9, 5);
  run(work, a_millisecond);
  look(work);
  ASSERT_TRUE(set(work, 7, 3));
  declare(work, "depth", 1, 4, 2);
  EXPECT_EQ(work.in_force->value[0], 7);
  const steer::snapshot look_after_end = look(work);
  EXPECT_EQ(look_after_end.gone, std::vector<steer::subject_id>{work.subject()});
  EXPECT_TRUE(look_after_end.appeared.empty());
  const steer::snapshot second_look = look(work);
  ASSERT_EQ(second_look.appeared.size(), 1u);
  EXPECT_EQ(second_look.appeared[0].knobs.size(), 2u);
  EXPECT_EQ(work.in_force->value[0], 5) << "as the engine believes";
  EXPECT_TRUE(set(work, 6, 4));
  EXPECT_EQ(work.in_force->value[0], 6);
  EXPECT_EQ(work.in_force->value[1], 2);
}

class program_known_before : public program_with_knobs {
 protected:
  program_known_before()
      : program_with_knobs({{key_of("known"), {{"tile", "8"}}}, {"program/other/known", {{"tile", "2"}}}}) {}
};

TEST_F(program_known_before, begins_with_what_an_earlier_run_found_and_does_not_measure_it_as_its_own) {
  observe::program_work& work = *the_program_works.add("known", 105);
  declare(work, "tile", 1, 9, 5);
  EXPECT_EQ(work.in_force->value[0], 8);
  run(work, a_millisecond);
  const steer::snapshot now = look(work);
  ASSERT_EQ(now.appeared.size(), 1u);
  ASSERT_EQ(now.subjects.size(), 1u);
  EXPECT_TRUE(now.subjects[0].measured.empty());
}

// The whole way: events, source, engine with the tuner, board, values of the next event.
TEST_F(program_with_knobs, finds_the_best_values_and_keeps_them) {
  observe::program_work& work = *the_program_works.add("searched", 106);
  declare(work, "tile", 0, 12, 2);
  declare(work, "order", 0, 1, 0);
  const auto cost = [](const std::int64_t* value) {
    return 1e-3 * (1 + 0.1 * std::abs(static_cast<double>(value[0] - 9))) * (value[1] == 1 ? 0.7 : 1.0);
  };
  steer::engine_options options;
  options.budget_share = 1;
  steer::engine steering(options);
  steering.add(std::make_unique<steer::tuner>());
  double time_s = 0;
  for (int step = 0; step < 2000; ++step) {
    for (int i = 0; i < 10; ++i) run(work, cost), time_s += cost(work.in_force->value);
    steer::snapshot now = look(work);
    now.time_s = time_s;
    now.is_last = step == 1999;
    for (const steer::decision& decision : steering.step(now)) EXPECT_TRUE(knobs.apply(decision));
  }
  EXPECT_EQ(knobs.accepted(work.subject()), (std::vector<knob_value>{9, 1}));
  EXPECT_EQ(work.in_force->value[0], 9);
  EXPECT_EQ(work.in_force->value[1], 1);
}

}  // namespace
}  // namespace trimtab::session

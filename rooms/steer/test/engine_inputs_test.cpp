// What policies are told, and what of theirs is refused.
#include <cmath>
#include <limits>

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info told_of{7, "mandel.c:48", {numbers("threads", 1, 4, 4), kinds("schedule", {"static", "dynamic"})}};

double same_time(const std::vector<knob_value>&, double) { return 0.01; }

snapshot only_at(double time_s) {
  snapshot now;
  now.time_s = time_s;
  return now;
}

TEST(engine, tells_a_policy_each_event_and_end_once) {
  scenario simulation;
  std::vector<std::string> events;
  std::vector<subject_id> subjects_gone;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        for (const event& event : now.events) events.push_back(event.name);
        subjects_gone.insert(subjects_gone.end(), now.gone.begin(), now.gone.end());
      },
      "seldom", cadence{1, {}}));
  simulation.add(told_of, same_time);
  simulation.run();
  EXPECT_EQ(events, std::vector<std::string>{"appeared"});
  events.clear();
  snapshot now = only_at(0.5);
  now.events = {{"bell", 7, 0}};
  now.gone = {7, 8};
  simulation.tell(now);
  EXPECT_TRUE(events.empty());
  for (const double time_s : {2, 4, 6}) simulation.tell(only_at(time_s));
  EXPECT_EQ(events, (std::vector<std::string>{"gone", "bell"}));
  EXPECT_EQ(subjects_gone, std::vector<subject_id>{7}) << "the other was never there";
}

TEST(engine, keeps_the_latest_events_for_who_is_called_seldom) {
  scenario simulation;
  double first = -1, last = -1;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        if (now.events.empty()) return;
        first = now.events.front().value;
        last = now.events.back().value;
      },
      "seldom", cadence{1, {}}));
  simulation.tell(only_at(0));
  for (int i = 0; i < 100; ++i) {
    snapshot now = only_at(0.5);
    for (int j = 0; j < 100; ++j) now.events.push_back({"bell", 7, 100.0 * i + j});
    simulation.tell(now);
  }
  simulation.tell(only_at(2));
  EXPECT_EQ(last, 9999);
  EXPECT_EQ(first, 10'000 - 4096);
}

TEST(engine, knows_no_subject_with_knobs_that_cannot_be) {
  engine steering;
  snapshot now = only_at(1);
  subject_id next = 0;
  for (const double cost_s : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    now.appeared.push_back({++next, "loop", {numbers("fine", 1, 4, 1), numbers("chunk", 1, 8, 1, cost_s)}});
  now.appeared.push_back({++next, "loop", {numbers("chunk", 1, 8, 9)}});
  now.appeared.push_back({++next, "loop", {numbers("chunk", 1, 8, 8)}});
  steering.step(now);
  for (subject_id number = 1; number < next; ++number) EXPECT_EQ(steering.subject(number), nullptr) << number;
  EXPECT_NE(steering.subject(next), nullptr);
}

TEST(engine, tells_the_latest_figures_of_a_subject) {
  scenario simulation;
  double latest = -1;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) { latest = figure_or(now.find(7)->figures, figures::imbalance, 0); }));
  simulation.add(told_of, same_time, {{std::string(figures::imbalance), 1.5}});
  simulation.run();
  snapshot now = only_at(1);
  now.subjects = {{7, {{0, 0.01, 0.01}}, {}}};
  simulation.tell(now);
  EXPECT_EQ(latest, 1.5) << "none came with these measurements";
  now = only_at(2);
  now.subjects = {{7, {}, {{std::string(figures::imbalance), 1.2}}}};
  simulation.tell(now);
  EXPECT_EQ(latest, 1.2);
}

TEST(engine, goes_by_the_latest_time_there_was) {
  scenario simulation;
  std::vector<double> times;
  simulation.steering.add(std::make_unique<scripted>([&](const view& now, auto&) { times.push_back(now.time_s); }));
  for (const double time_s : {1.0, 0.5, 2.0}) simulation.tell(only_at(time_s));
  EXPECT_EQ(times, (std::vector<double>{1, 1, 2}));
}

// A number may come to stand for another subject.
TEST(engine, tells_nothing_of_a_subject_that_had_the_number_before) {
  scenario simulation;
  std::size_t measured = 0;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        if (const subject_view* const subject = now.find(7)) measured = subject->measured.size();
      },
      "seldom", cadence{1, {}}));
  simulation.add(told_of, same_time);
  simulation.run();
  for (int i = 0; i < 5; ++i) simulation.run();
  snapshot now = only_at(0.5);
  now.gone = {7};
  simulation.tell(now);
  now = only_at(0.6);
  now.appeared = {told_of};
  simulation.tell(now);
  simulation.tell(only_at(2));
  EXPECT_EQ(measured, 0u);
}

TEST(engine, calls_triggered_policies_when_the_run_ends) {
  scenario simulation;
  int calls = 0;
  simulation.steering.add(
      std::make_unique<scripted>([&](const view&, auto&) { calls += 1; }, "triggered", cadence{0, {"bell"}}));
  simulation.run();
  EXPECT_EQ(calls, 0);
  simulation.run(true);
  EXPECT_EQ(calls, 1);
}

TEST(engine, says_whether_a_level_is_known) {
  scenario simulation;
  bool has_level = false;
  simulation.steering.add(std::make_unique<scripted>([&](const view& now, std::vector<proposal>& out) {
    has_level = now.find(7)->has_level;
    if (now.time_s > 2) out.push_back(setting_of(7, {{0, 2}}));
  }));
  snapshot now = only_at(1);
  now.appeared = {told_of};
  simulation.knobs.add(told_of, [](auto, auto) { return true; });
  simulation.tell(now);
  EXPECT_FALSE(has_level);
  now = only_at(2);
  now.subjects = {{7, {{0, 0.01, 0.01}}, {}}};
  simulation.tell(now);
  EXPECT_TRUE(has_level);
  for (const double time_s : {3, 4}) simulation.tell(only_at(time_s));
  EXPECT_EQ(simulation.log.size(), 1u);
  EXPECT_FALSE(has_level) << "that was of other values";
}

class scripted_unguarded : public scripted {
 public:
  using scripted::scripted;
  bool is_guarded() const noexcept override { return false; }
};

TEST(engine, takes_nothing_that_was_measured_of_a_trial_for_the_level) {
  scenario simulation;
  bool has_level = false;
  simulation.steering.add(std::make_unique<scripted_unguarded>([&](const view& now, std::vector<proposal>& out) {
    has_level = now.find(7)->has_level;
    if (now.find(7)->last_trial == 0) out.push_back(trial_of(7, {{0, 2}}));
  }));
  snapshot now = only_at(1);
  now.appeared = {told_of};
  simulation.knobs.add(told_of, [](auto, auto) { return true; });
  simulation.tell(now);
  ASSERT_EQ(simulation.log.size(), 1u) << "it needs no level";
  now = only_at(2);
  now.subjects = {{7, {{simulation.log[0].number, 0.01, 0.01}}, {}}};
  simulation.tell(now);
  EXPECT_FALSE(has_level);
}

TEST(engine, ends_no_trial_where_there_is_none) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>([](const view&, std::vector<proposal>& out) {
    out.push_back(ending(7, outcome::kept));
    out.push_back(ending(7, outcome::undone));
  }));
  simulation.add(told_of, same_time);
  simulation.run();
  EXPECT_TRUE(simulation.log.empty());
  EXPECT_EQ(simulation.steering.counts().nothing_to_do, 2u);
}

TEST(engine, refuses_what_is_in_force_already) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>(
      [](const view&, std::vector<proposal>& out) { out.push_back(trial_of(7, {{0, 4}, {1, 0}})); }));
  simulation.add(told_of, same_time);
  for (int i = 0; i < 10; ++i) simulation.run();
  EXPECT_TRUE(simulation.log.empty());
  EXPECT_EQ(simulation.steering.counts().nothing_to_do, 10u);
  EXPECT_EQ(simulation.steering.reports().front().refused, 10u);
}

TEST(engine, accepts_nothing_that_is_on_trial_together_with_what_is_set) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>([](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 1 && now.time_s < 2) out.push_back(trial_of(7, {{0, 2}}));
    if (now.time_s > 2) out.push_back(setting_of(7, {{1, 1}}));
  }));
  simulation.add(told_of, same_time);
  while (simulation.time_s < 3) simulation.run();
  ASSERT_EQ(simulation.log.size(), 1u);
  EXPECT_EQ(simulation.knobs.accepted(7), (std::vector<knob_value>{4, 0}));
}

TEST(engine, begins_nothing_when_the_run_ends) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>([](const view& now, std::vector<proposal>& out) {
    if (now.is_last) out.push_back(trial_of(7, {{0, 2}}));
  }));
  simulation.add(told_of, same_time);
  while (simulation.time_s < 2) simulation.run();
  simulation.run(true);
  EXPECT_TRUE(simulation.log.empty());
}

TEST(engine, asks_for_consent_where_one_of_the_knobs_needs_it) {
  scenario simulation;
  subject_info asking = told_of;
  asking.knobs[0].asks = consent::needed;
  simulation.steering.add(std::make_unique<scripted>([](const view& now, std::vector<proposal>& out) {
    out.push_back(trial_of(7, {{0, 2}, {1, 1}}));
    if (now.time_s > 1.6) out.push_back(trial_of(7, {{1, 1}}));
  }));
  simulation.add(asking, same_time);
  while (simulation.time_s < 1.5) simulation.run();
  EXPECT_TRUE(simulation.log.empty());
  while (simulation.time_s < 2) simulation.run();
  EXPECT_EQ(simulation.values(7), (std::vector<knob_value>{4, 1}));
}

TEST(engine, undoes_only_what_a_disabled_policy_has_on_trial) {
  scenario simulation;
  for (const subject_id its : {1u, 2u})
    simulation.steering.add(std::make_unique<scripted>(
        [its](const view& now, std::vector<proposal>& out) {
          if (its == 1 && now.time_s > 2) throw 1;
          if (now.time_s > 1) out.push_back(trial_of(its, {{0, 2}}));
        },
        its == 1 ? "first" : "second"));
  for (const subject_id each : {1u, 2u}) simulation.add({each, "loop", {numbers("chunk", 1, 8, 1)}}, same_time);
  while (simulation.time_s < 3) simulation.run();
  EXPECT_EQ(simulation.values(1)[0], 1);
  EXPECT_EQ(simulation.values(2)[0], 2);
  EXPECT_EQ(simulation.log.size(), 3u) << "all the time";
}

TEST(engine, takes_back_what_a_rule_set_and_its_owner_could_not) {
  engine steering;
  steering.add(std::make_unique<scripted_rule>([](const view& now, std::vector<proposal>& out) {
    if (const subject_view* const subject = now.find(7)) out.push_back(setting_of(7, {{0, subject->in_force[0] - 1}}));
  }));
  snapshot now = only_at(1);
  now.appeared = {told_of};
  ASSERT_EQ(steering.step(now).size(), 1u);
  ASSERT_EQ(steering.step(only_at(2)).size(), 1u);
  now = only_at(3);
  now.not_applied = {2};
  const std::vector<decision> decisions_then = steering.step(now);
  ASSERT_EQ(decisions_then.size(), 1u);
  EXPECT_EQ(decisions_then[0].what, outcome::undone);
  EXPECT_EQ(decisions_then[0].changes, (std::vector<change>{{0, 2, 3}})) << "to what was set before";
  now = only_at(4);
  now.not_applied = {3};
  EXPECT_TRUE(steering.step(now).empty()) << "nor that: there is nothing more to undo";
}

}  // namespace
}  // namespace trimtab::steer::testing

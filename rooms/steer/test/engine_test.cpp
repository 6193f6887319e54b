#include "trimtab/steer/engine.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info mandel{7, "mandel.c:48", {numbers("threads", 1, 4, 4), kinds("schedule", {"static", "dynamic"})}};

double even(const std::vector<knob_value>&, double) { return 0.01; }

// An engine with one scripted policy, and a program of one subject.
struct one_policy : scenario {
  explicit one_policy(scripted::script script_run, engine_options options = {}) : scenario(std::move(options)) {
    steering.add(std::make_unique<scripted>(std::move(script_run)));
    add(mandel, even);
  }
  void warm_up(int steps = 100) {
    for (int i = 0; i < steps; ++i) run();
  }
  const policy_report report() const { return steering.reports().front(); }
};

TEST(engine, makes_decisions_of_proposals) {
  one_policy simulation([](const view& now, std::vector<proposal>& out) {
    if (now.time_s < 0.5) return;
    const subject_view& subject = now.subjects.front();
    if (subject.in_force[0] == 4) {
      out.push_back(trial_of(7, {{0, 3}, {1, 1}}));
    } else if (subject.accepted[0] == 4) {
      out.push_back(ending(7, outcome::kept));
      out.back().gain = {0.22, 0.03, 9};
      out.back().reason = "run delay";
    }
  });
  simulation.warm_up();
  ASSERT_EQ(simulation.log.size(), 2u);
  EXPECT_EQ(simulation.log[0].what, outcome::trial);
  EXPECT_EQ(simulation.log[0].changes, (std::vector<change>{{0, 4, 3}, {1, 0, 1}}));
  EXPECT_EQ(simulation.log[0].policy, "scripted");
  EXPECT_EQ(describe(simulation.log[1], mandel),
            "mandel.c:48: threads 4 -> 3, schedule static -> dynamic, kept: run delay; gain 22.0 % +- 3.0 %");
  EXPECT_EQ(simulation.values(7), (std::vector<knob_value>{3, 1}));
  EXPECT_EQ(simulation.knobs.accepted(7), (std::vector<knob_value>{3, 1}));
}

TEST(engine, undoes_what_is_on_trial_when_the_run_ends) {
  one_policy simulation([](const view&, std::vector<proposal>& out) { out.push_back(trial_of(7, {{0, 2}})); });
  simulation.warm_up();
  EXPECT_EQ(simulation.values(7)[0], 2);
  simulation.run(true);
  EXPECT_EQ(simulation.values(7)[0], 4);
  EXPECT_EQ(simulation.log.back().what, outcome::undone);
}

struct misbehaviour {
  const char* what;
  scripted::script script;
  const char* told;
};

class a_policy_that : public ::testing::TestWithParam<misbehaviour> {};

TEST_P(a_policy_that, is_disabled_and_undone) {
  one_policy simulation([done = 0](const view& now, std::vector<proposal>& out) mutable {
    if (now.time_s < 0.5) return;
    if (done++ == 0)
      out.push_back(trial_of(7, {{0, 1}}));
    else
      GetParam().script(now, out);
  });
  simulation.warm_up();
  EXPECT_FALSE(simulation.report().is_enabled);
  EXPECT_NE(simulation.report().why_disabled.find(GetParam().told), std::string::npos) << simulation.report().why_disabled;
  EXPECT_EQ(simulation.values(7)[0], 4);
  ASSERT_EQ(simulation.log.size(), 2u);
  EXPECT_EQ(simulation.log[1].what, outcome::undone);
  EXPECT_NE(simulation.log[1].reason.find(GetParam().told), std::string::npos);
  const auto calls = simulation.report().calls;
  simulation.warm_up();
  EXPECT_EQ(simulation.report().calls, calls);
}

proposal with_gain(double gain) {
  proposal proposed = trial_of(7, {{0, 2}});
  proposed.gain.gain = gain;
  return proposed;
}

INSTANTIATE_TEST_SUITE_P(
    engine, a_policy_that,
    ::testing::Values(
        misbehaviour{"throws", [](const view&, auto&) { throw std::runtime_error("out of ideas"); }, "out of ideas"},
        misbehaviour{"throws_an_int", [](const view&, auto&) { throw 3; }, "threw something"},
        misbehaviour{"leaves_the_domain", [](const view&, auto& out) { out.push_back(trial_of(7, {{0, 5}})); }, "outside"},
        misbehaviour{"names_no_knob", [](const view&, auto& out) { out.push_back(trial_of(7, {{2, 1}})); }, "knob 2"},
        misbehaviour{"names_a_knob_twice", [](const view&, auto& out) { out.push_back(trial_of(7, {{0, 1}, {0, 2}})); },
                     "twice"},
        misbehaviour{"names_no_subject", [](const view&, auto& out) { out.push_back(trial_of(8, {{0, 1}})); }, "subject 8"},
        misbehaviour{"has_no_such_outcome", [](const view&, auto& out) { out.push_back(ending(7, outcome{9})); }, "outcome"},
        misbehaviour{"gains_no_number", [](const view&, auto& out) { out.push_back(with_gain(NAN)); }, "no number"}),
    [](const auto& of) { return of.param.what; });

TEST(engine, disables_a_policy_that_the_clock_finds_slow) {
  double clock = 0;
  engine_options options;
  options.clock = [&] { return clock += 0.01; };
  one_policy simulation(
      [&](const view& now, std::vector<proposal>& out) {
        if (now.time_s < 0.5) return;
        out.push_back(trial_of(7, {{0, 2}}));
        if (now.time_s > 0.8) clock += 0.2;
      },
      options);
  simulation.warm_up(70);
  EXPECT_TRUE(simulation.report().is_enabled);
  EXPECT_EQ(simulation.values(7)[0], 2);
  simulation.warm_up(30);
  EXPECT_FALSE(simulation.report().is_enabled);
  EXPECT_EQ(simulation.report().why_disabled, "took too long");
  EXPECT_EQ(simulation.values(7)[0], 4);
}

TEST(engine, disables_a_policy_that_its_caller_gave_up_on) {
  one_policy simulation([](const view&, std::vector<proposal>& out) { out.push_back(trial_of(7, {{0, 2}})); });
  simulation.warm_up();
  snapshot now;
  now.time_s = simulation.time_s;
  now.overdue = {"scripted"};
  simulation.tell(now);
  EXPECT_FALSE(simulation.report().is_enabled);
  EXPECT_EQ(simulation.values(7)[0], 4);
}

TEST(engine, says_which_policy_is_running) {
  const char* running_name = nullptr;
  engine* steering = nullptr;
  one_policy simulation([&](const view&, std::vector<proposal>&) { running_name = steering->running(); });
  steering = &simulation.steering;
  simulation.run();
  EXPECT_STREQ(running_name, "scripted");
  EXPECT_EQ(simulation.steering.running(), nullptr);
}

TEST(engine, refuses_knobs_of_subjects_that_are_gone_and_goes_on) {
  one_policy simulation([](const view&, std::vector<proposal>& out) { out.push_back(trial_of(7, {{0, 2}})); });
  simulation.run();
  snapshot now;
  now.time_s = 1;
  now.gone = {7};
  EXPECT_TRUE(simulation.tell(now).empty());
  EXPECT_TRUE(simulation.report().is_enabled);
  EXPECT_EQ(simulation.steering.counts().gone, 1u);
  EXPECT_EQ(simulation.steering.subject(7), nullptr);
}

TEST(engine, gives_a_subject_to_one_policy_at_a_time) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>(
      [](const view& now, std::vector<proposal>& out) {
        if (now.time_s > 0.5 && now.time_s < 1) out.push_back(trial_of(7, {{0, 2}}));
        if (now.time_s >= 1) throw 1;
      },
      "first"));
  std::vector<bool> rest_flags;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, std::vector<proposal>& out) {
        rest_flags.push_back(now.subjects.front().is_others);
        if (now.time_s > 0.6) out.push_back(trial_of(7, {{0, 3}}));
      },
      "second"));
  simulation.add(mandel, even);
  for (int i = 0; i < 90; ++i) simulation.run();
  EXPECT_EQ(simulation.values(7)[0], 2);
  EXPECT_GT(simulation.steering.counts().others, 0u);
  EXPECT_TRUE(rest_flags.back());
  for (int i = 0; i < 30; ++i) simulation.run();
  EXPECT_EQ(simulation.values(7)[0], 3) << "the first is disabled, so that the second may";
}

TEST(engine, asks_for_consent_where_a_knob_needs_it) {
  for (const bool has_consent : {false, true}) {
    engine_options options;
    options.has_consent = has_consent;
    scenario simulation(options);
    subject_info asking = mandel;
    asking.knobs[0].asks = consent::needed;
    simulation.steering.add(
        std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(7, {{0, 2}})); }));
    simulation.add(asking, even);
    for (int i = 0; i < 100; ++i) simulation.run();
    EXPECT_EQ(simulation.values(7)[0], has_consent ? 2 : 4);
    EXPECT_EQ(simulation.steering.counts().consent > 0, !has_consent);
  }
}

TEST(engine, calls_periodic_and_triggered_policies_when_they_are_due) {
  scenario simulation;
  int periodic = 0, triggered = 0;
  std::size_t measured = 0;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        periodic += 1;
        measured += now.find(7)->measured.size();
      },
      "periodic", cadence{0.0999, {}}));
  simulation.steering.add(
      std::make_unique<scripted>([&](const view&, auto&) { triggered += 1; }, "triggered", cadence{0, {"bell"}}));
  simulation.add(mandel, even);
  for (int i = 0; i < 101; ++i) simulation.run();
  EXPECT_EQ(periodic, 11);
  EXPECT_EQ(measured, 101u) << "no measurement is lost between two calls";
  EXPECT_EQ(triggered, 0);
  snapshot now;
  now.time_s = simulation.time_s;
  now.events = {{"bell", 7, 0}};
  simulation.tell(now);
  EXPECT_EQ(triggered, 1);
}

TEST(engine, calls_policies_that_have_a_period_and_triggers_with_either) {
  scenario simulation;
  std::vector<double> calls;
  std::vector<std::string> names_seen;
  simulation.steering.add(std::make_unique<scripted>(
      [&](const view& now, auto&) {
        calls.push_back(now.time_s);
        for (const event& event : now.events) names_seen.push_back(event.name);
      },
      "both", cadence{1, {"bell"}}));
  snapshot now;
  const auto step_at = [&](double time_s, std::vector<event> happened = {}) {
    now.time_s = time_s;
    now.events = std::move(happened);
    simulation.tell(now);
  };
  step_at(0);
  step_at(0.25, {{"whistle", 0, 0}});
  step_at(0.5, {{"bell", 7, 0}});
  step_at(1.25);
  step_at(1.5);
  EXPECT_EQ(calls, (std::vector<double>{0, 0.5, 1.5}));
  EXPECT_EQ(names_seen, (std::vector<std::string>{"whistle", "bell"})) << "none is lost";
}

TEST(engine, leaves_out_measurements_that_cannot_be) {
  one_policy simulation([](const view& now, auto&) {
    for (const subject_view& subject : now.subjects) EXPECT_TRUE(subject.measured.empty());
  });
  snapshot now;
  now.appeared = {mandel};
  now.subjects = {
      {7, {{0, NAN, 1}, {0, 1, -1}, {0, -1, 1}, {5, 1, 1}, {0, 1, std::numeric_limits<double>::infinity()}}, {}}};
  simulation.tell(now);
  EXPECT_EQ(simulation.steering.counts().bad_measurements, 5u);
}

TEST(engine, leaves_alone_what_its_owner_could_not_turn) {
  engine steering;
  steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(7, {{0, 2}})); }));
  snapshot now;
  now.appeared = {mandel};
  now.subjects = {{7, {{0, 0.01, 0.01}}, {}}};
  now.time_s = 10;
  ASSERT_EQ(steering.step(now).size(), 1u);
  snapshot last_step;
  last_step.time_s = 11;
  last_step.not_applied = {1};
  const std::vector<decision> decisions_then = steering.step(last_step);
  ASSERT_EQ(decisions_then.size(), 1u);
  EXPECT_EQ(decisions_then[0].what, outcome::undone);
  EXPECT_EQ(steering.counts().stuck, 1u);
}

TEST(engine, ends_a_trial_when_the_budget_is_spent) {
  scenario simulation;
  simulation.steering.add(std::make_unique<scripted>([](const view&, auto& out) { out.push_back(trial_of(7, {{0, 1}})); }));
  simulation.add(mandel, [](const std::vector<knob_value>& values, double) { return values[0] == 4 ? 0.01 : 0.02; });
  double slow_s = 0;
  for (int i = 0; i < 5000; ++i) {
    const bool is_slow = simulation.values(7)[0] != 4;
    simulation.run();
    if (is_slow) slow_s += 0.01;
  }
  EXPECT_GT(slow_s, 0.02 * simulation.time_s);
  EXPECT_LT(slow_s, 0.031 * simulation.time_s);
  EXPECT_NEAR(simulation.steering.spent().spent_s(), slow_s, 1e-6);
}

}  // namespace
}  // namespace trimtab::steer::testing

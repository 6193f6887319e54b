// The legs of a subject's tuning session: what is measured, how often, and what follows. Programs that exist in memory only.
#include <algorithm>
#include <set>

#include "scenario.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::steer::testing {
namespace {

engine_options without_limits() {
  engine_options options;
  options.budget_share = 1;
  options.allowance_s = 100;
  return options;
}

tuner_options searching(search_kind kind) {
  tuner_options options;
  options.kind = kind;
  return options;
}

// One loop with one knob; the log says which values were in force for how many instances in turn.
struct one_loop : scenario {
  struct stay {
    knob_value at;
    std::size_t instances;
  };

  one_loop(const tuner_options& options, knob turned, std::function<double(knob_value, double now_s)> seconds,
           engine_options limits = without_limits())
      : scenario(std::move(limits)) {
    steering.add(std::make_unique<tuner>(options));
    add({1, "loop", {std::move(turned)}}, [this, seconds](const std::vector<knob_value>& values, double now_s) {
      if (stays.empty() || stays.back().at != values[0]) stays.push_back({values[0], 0});
      stays.back().instances += 1;
      return seconds(values[0], now_s);
    });
  }
  std::size_t number_of(outcome result_kind) const {
    return static_cast<std::size_t>(
        std::count_if(log.begin(), log.end(), [&](const decision& decision) { return decision.what == result_kind; }));
  }

  std::vector<stay> stays;
};

TEST(tuning_session, measures_a_candidate_that_is_clearly_worse_only_once) {
  tuner_options options = searching(search_kind::exhaustive);
  options.per_candidate = 10;
  options.per_reference = 4;
  one_loop loop_run(options, numbers("grain", 0, 4, 0), [](knob_value at, double) {
    return at == 0 ? 0.01 : at < 3 ? 0.012 : 0.03;
  });
  loop_run.run_until(10);
  std::size_t worse = 0, other = 0;
  for (const one_loop::stay& visit : loop_run.stays) {
    worse += visit.at >= 3;
    other += visit.at == 1 || visit.at == 2;
    if (visit.at == 0)
      EXPECT_GE(visit.instances, 4u) << "what it is measured by is measured in full";
    else
      EXPECT_EQ(visit.instances, visit.at >= 3 ? 1u : 10u) << visit.at;
  }
  EXPECT_EQ(worse, 2u);
  EXPECT_EQ(other, 2u);
}

TEST(tuning_session, leaves_out_what_is_measured_while_a_change_settles) {
  knob turned = numbers("workers", 0, 4, 0);
  turned.settle = 2;
  knob_value latest = 0;
  int begin_step = 0;
  // The first two instances after each change seem to take a third.
  one_loop loop_run(searching(search_kind::exhaustive), turned, [&](knob_value at, double) {
    begin_step = at == latest ? begin_step + 1 : 1;
    latest = at;
    return loop_run.stays.size() > 1 && begin_step <= 2 && at != 0 ? 0.003 : 0.01;
  });
  loop_run.run_until(30);
  EXPECT_GT(loop_run.number_of(outcome::trial), 3u);
  EXPECT_EQ(loop_run.number_of(outcome::kept), 0u);
}

TEST(tuning_session, begins_where_changes_cost_little_beside_a_measurement) {
  one_loop loop_run(searching(search_kind::exhaustive), numbers("grain", 0, 4, 0, 1e-4),
                    [](knob_value at, double) { return at == 3 ? 0.005 : 0.01; });
  loop_run.run_until(20);
  EXPECT_EQ(loop_run.values(1)[0], 3);
}

TEST(tuning_session, takes_no_measurement_of_another_decision) {
  engine steering(without_limits());
  steering.add(std::make_unique<tuner>(searching(search_kind::exhaustive)));
  snapshot now;
  now.appeared = {{1, "loop", {numbers("grain", 0, 4, 0)}}};
  decision_number active_decision = 0, before = 0;
  std::size_t trials = 0;
  bool is_trial = false;
  for (int i = 0; i < 3000; ++i) {
    now.time_s += 0.01;
    now.subjects = {{1, {{active_decision, 0.01, 0.01}}, {}}};
    // What began before the trial ends in it, and seems to have taken no time.
    if (is_trial) now.subjects[0].measured.insert(now.subjects[0].measured.begin(), 2, {before, 1e-4, 1e-4});
    for (const decision& decision : steering.step(now)) {
      is_trial = decision.what == outcome::trial;
      trials += is_trial;
      EXPECT_NE(decision.what, outcome::kept);
      before = std::exchange(active_decision, decision.number);
    }
    now.appeared.clear();
  }
  EXPECT_GT(trials, 3u);
}

TEST(tuning_session, makes_do_with_what_was_measured_before_the_budget_ended_a_trial) {
  tuner_options options = searching(search_kind::exhaustive);
  options.clearly_worse = 100;
  engine_options scarce;
  scarce.budget_share = 0.03;
  one_loop loop_run(options, numbers("grain", 0, 9, 0), [](knob_value at, double) { return at == 0 ? 0.01 : 0.03; }, scarce);
  loop_run.run_until(30);
  std::map<knob_value, int> stays;
  for (const one_loop::stay& visit : loop_run.stays) stays[visit.at] += 1;
  for (knob_value at = 1; at < 10; ++at) EXPECT_EQ(stays[at], 1) << at;
}

TEST(tuning_session, proves_at_once_what_seems_to_save_much) {
  one_loop loop_run(searching(search_kind::exhaustive), numbers("grain", 0, 19, 0),
                    [](knob_value at, double) { return at == 1 ? 0.005 : 0.01; });
  std::set<knob_value> tried;
  while (loop_run.time_s < 60 && loop_run.number_of(outcome::kept) == 0) {
    loop_run.run();
    tried.insert(loop_run.values(1)[0]);
  }
  EXPECT_EQ(loop_run.values(1)[0], 1);
  EXPECT_LE(tried.size(), 3u);
}

// Two values, of which the second seems better in its first instances, is not, and is in the end.
struct seeming : one_loop {
  seeming()
      : one_loop(often(), numbers("grain", 0, 1, 0), [this](knob_value at, double now_s) {
          if (now_s > 60) return at == 1 ? 0.005 : 0.02;
          return at == 1 && seen++ < 3 ? 0.005 : 0.01;
        }) {}
  static tuner_options often() {
    tuner_options options = searching(search_kind::exhaustive);
    options.recheck_s = 5;
    return options;
  }
  int seen = 0;
};

TEST(tuning_session, proves_only_once_in_a_search_what_was_not_so) {
  seeming seeming_run;
  seeming_run.run_until(59);
  EXPECT_EQ(seeming_run.number_of(outcome::kept), 0u);
  ASSERT_FALSE(seeming_run.log.empty());
  EXPECT_LT(seeming_run.log.back().time_s, 10) << "it has settled";
}

TEST(tuning_session, proves_it_anew_in_the_search_after) {
  seeming seeming_run;
  seeming_run.run_until(200);
  EXPECT_EQ(seeming_run.values(1)[0], 1);
}

TEST(tuning_session, takes_up_what_was_kept_again_after_the_programs_own_values) {
  tuner_options often = searching(search_kind::exhaustive);
  often.recheck_s = 5;
  random_source noise(3);
  one_loop loop_run(often, numbers("grain", 0, 4, 0),
                    [&](knob_value at, double) { return (at == 3 ? 0.005 : 0.01) * (0.98 + 0.04 * noise.share()); });
  loop_run.run_until(20);
  ASSERT_EQ(loop_run.values(1)[0], 3);
  const auto settled = std::find_if(loop_run.log.begin(), loop_run.log.end(),
                                    [](const decision& decision) { return decision.what == outcome::kept; });
  const auto next = std::find_if(settled, loop_run.log.end(),
                                 [&](const decision& decision) { return decision.time_s > settled->time_s + 4; });
  ASSERT_NE(next, loop_run.log.end());
  EXPECT_EQ(next->reason, "the program's own values once more") << "what is kept is no drift";
  loop_run.stays.clear();
  loop_run.run_until(200);
  for (const one_loop::stay& visit : loop_run.stays)
    EXPECT_TRUE(visit.at == 3 || visit.instances <= 3) << visit.at << ": " << visit.instances;
}

TEST(tuning_session, tries_points_that_mean_the_same_once) {
  tuner_options options = searching(search_kind::exhaustive);
  options.same_as = [](const subject_info&) { return [](point at) { return point{std::min(at[0], 3u)}; }; };
  one_loop loop_run(options, numbers("grain", 0, 19, 0), [](knob_value, double) { return 0.01; });
  loop_run.run_until(20);
  std::set<knob_value> tried;
  for (const one_loop::stay& visit : loop_run.stays) tried.insert(visit.at);
  EXPECT_EQ(tried, (std::set<knob_value>{0, 1, 2, 3}));
}

TEST(tuning_session, is_as_promising_as_its_finding_is_strong) {
  scenario simulation(without_limits());
  simulation.steering.add(std::make_unique<tuner>());
  for (const subject_id each : {1u, 2u}) {
    subject_info info{each, "loop", {numbers("grain", 0, 4, 0)}};
    info.knobs[0].remedies = {{std::string(causes::imbalance), {2}}};
    simulation.add(info, [](const auto&, double) { return 0.01; },
                   {{std::string(figures::imbalance), each == 1 ? 1.2 : 1.8}});
  }
  while (simulation.time_s < 10 && simulation.log.empty()) simulation.run();
  ASSERT_FALSE(simulation.log.empty());
  EXPECT_EQ(simulation.log[0].subject, 2u);
}

}  // namespace
}  // namespace trimtab::steer::testing

// The tuner under the engine, on programs that exist in memory only; noise has fixed seeds.
#include "trimtab/steer/tuner.hpp"

#include <algorithm>

#include "../bench/surfaces.hpp"
#include "scenario.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::steer::testing {
namespace {

subject_info loop_of(const surfaces::surface& model_surface, subject_id id = 1) {
  subject_info info{id, model_surface.name, model_surface.knobs};
  for (std::size_t i = 0; i < model_surface.start.size(); ++i) info.knobs[i].initial = model_surface.start[i];
  return info;
}

time_of noisy_time(const surfaces::surface& model_surface, double noise, std::uint64_t seed) {
  return [model_surface, noise, source = random_source(seed)](const std::vector<knob_value>& values, double) mutable {
    return surfaces::noisy(model_surface.seconds(values), noise, source);
  };
}

surfaces::surface flat() {
  surfaces::surface model_surface = surfaces::all_surfaces().front();
  model_surface.name = "flat";
  model_surface.seconds = [](const std::vector<knob_value>&) { return 0.01; };
  return model_surface;
}

tuner_options by(search_kind kind, std::uint64_t seed = 1) {
  tuner_options options;
  options.kind = kind;
  options.seed = seed;
  return options;
}

std::size_t count(const std::vector<decision>& log, outcome result_kind) {
  return static_cast<std::size_t>(
      std::count_if(log.begin(), log.end(), [&](const decision& decision) { return decision.what == result_kind; }));
}

class tuned_by : public ::testing::TestWithParam<search_kind> {};

TEST_P(tuned_by, gains_what_is_to_be_gained_within_the_budget) {
  for (const surfaces::surface& model_surface : surfaces::all_surfaces()) {
    if (model_surface.hints.empty()) continue;
    engine_options options;
    options.budget_share = 0.1;
    scenario simulation(options);
    simulation.steering.add(std::make_unique<tuner>(by(GetParam())));
    subject_info info = loop_of(model_surface);
    for (std::size_t i = 0; i < info.knobs.size(); ++i) {
      remedy offered_remedy{std::string(causes::imbalance), {}};
      for (const auto& hint : model_surface.hints) offered_remedy.values.push_back(hint[i]);
      info.knobs[i].remedies.push_back(offered_remedy);
    }
    simulation.add(info, noisy_time(model_surface, 0.03, 5), {{std::string(figures::imbalance), 1.9}});
    // Long enough that the budget allows for every search.
    simulation.run_until(model_surface.seconds(model_surface.start) * 3000);
    const double best = surfaces::best_of(model_surface), start = model_surface.seconds(model_surface.start),
                 end = model_surface.seconds(simulation.values(1));
    EXPECT_LT(end - best, 0.3 * (start - best)) << model_surface.name << ": " << start << " -> " << end << ", best " << best;
    EXPECT_EQ(simulation.knobs.accepted(1), simulation.values(1));
    // What one measurement of the worst candidate takes may come on top.
    EXPECT_LT(simulation.steering.spent().spent_s(), 0.1 * simulation.time_s + 20 * start);
    ASSERT_GT(count(simulation.log, outcome::kept), 0u);
    for (const decision& decision : simulation.log)
      if (decision.what == outcome::kept) {
        EXPECT_GT(decision.gain.pairs, 5u);
        EXPECT_GT(decision.gain.gain, 0.02);
        EXPECT_FALSE(decision.reason.empty());
      }
  }
}

INSTANTIATE_TEST_SUITE_P(tuner, tuned_by,
                         ::testing::Values(search_kind::random, search_kind::hill_climbing, search_kind::nelder_mead,
                                           search_kind::parallel_rank_order, search_kind::simulated_annealing,
                                           search_kind::diagnosed),
                         [](const auto& of) {
                           std::string name(name_of(of.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(tuner, accepts_nothing_inside_noise) {
  int accepted = 0;
  constexpr int runs = 100;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    engine_options options;
    options.budget_share = 1;
    scenario simulation(options);
    simulation.steering.add(std::make_unique<tuner>(by(search_kind::random, seed)));
    simulation.add(loop_of(flat()), noisy_time(flat(), 0.1, seed));
    simulation.run_until(8);
    EXPECT_GT(count(simulation.log, outcome::trial), 20u);
    accepted += count(simulation.log, outcome::kept) > 0;
  }
  EXPECT_LE(accepted, runs / 20);
}

TEST(tuner, keeps_its_hands_off_where_nothing_is_wrong) {
  scenario simulation;
  simulation.steering.add(std::make_unique<tuner>());
  subject_info info = loop_of(flat());
  info.knobs[1].remedies = {{std::string(causes::imbalance), {1, 2}}};
  simulation.add(info, noisy_time(flat(), 0.05, 3), {{std::string(figures::imbalance), 1.02}});
  simulation.run_until(60);
  EXPECT_TRUE(simulation.log.empty());
}

TEST(tuner, leaves_alone_what_is_too_small_to_gain) {
  const surfaces::surface model_surface = surfaces::all_surfaces().front();
  scenario simulation;
  simulation.steering.add(std::make_unique<tuner>(by(search_kind::random)));
  subject_info dear = loop_of(model_surface);
  dear.knobs[0].change_cost_s = 1;  // 20 changes would take far longer than a measurement
  simulation.add(dear, noisy_time(model_surface, 0.03, 1));
  subject_info rare = loop_of(model_surface, 2);
  simulation.add(rare, [](const std::vector<knob_value>& values, double) { return values[0] == 32 ? 1e-4 : 1e-5; });
  simulation.run_until(60);
  EXPECT_TRUE(simulation.log.empty());
}

// Tuned every so often; the best grain moves from 3 after a minute, when the machine gets others to serve.
struct changing_world : scenario {
  explicit changing_world(double change_s, double drift = tuner_options{}.drift, double recheck_s = 5)
      : scenario(affluent()) {
    tuner_options often = by(search_kind::hill_climbing);
    often.recheck_s = recheck_s;
    often.drift = drift;
    steering.add(std::make_unique<tuner>(often));
    random_source source(4);
    add({1, "loop", {numbers("grain", 0, 20, 10)}},
        [source, change_s](const std::vector<knob_value>& values, double now_s) mutable {
          const double best = now_s < 60 ? 3 : change_s;
          return surfaces::noisy(0.01 * (1 + 0.1 * std::abs(static_cast<double>(values[0]) - best)), 0.02, source);
        });
  }
  static engine_options affluent() {
    engine_options options;
    options.budget_share = 0.2;
    return options;
  }
};

TEST(tuner, searches_again_when_the_world_has_changed) {
  changing_world world(17);
  world.run_until(59);
  EXPECT_NEAR(static_cast<double>(world.values(1)[0]), 3, 1);
  world.run_until(200);
  EXPECT_NEAR(static_cast<double>(world.values(1)[0]), 17, 1);
}

TEST(tuner, returns_to_the_programs_own_values_when_they_are_better_again) {
  changing_world world(10, 100);
  world.run_until(200);
  EXPECT_EQ(world.values(1)[0], 10);
}

TEST(tuner, searches_at_once_when_the_world_has_changed_since_it_settled) {
  changing_world world(17, tuner_options{}.drift, 70);
  world.run_until(200);
  const auto next =
      std::find_if(world.log.begin(), world.log.end(), [](const decision& decision) { return decision.time_s > 60; });
  ASSERT_NE(next, world.log.end());
  EXPECT_LT(next->time_s, 62) << "and not when its own values are due";
  EXPECT_EQ(next->reason.find("own values"), std::string::npos) << "they are no longer what it is measured by";
  EXPECT_NEAR(static_cast<double>(world.values(1)[0]), 17, 1);
}

TEST(tuner, searches_again_when_everything_has_become_quicker) {
  scenario simulation(changing_world::affluent());
  tuner_options often = by(search_kind::hill_climbing);
  often.recheck_s = 5;
  simulation.steering.add(std::make_unique<tuner>(often));
  simulation.add({1, "loop", {numbers("grain", 0, 20, 10)}},
                 [source = random_source(4)](const std::vector<knob_value>& values, double now_s) mutable {
                   const double quick = now_s < 60 ? 0.01 : 0.004, best = now_s < 60 ? 10 : 3;
                   return surfaces::noisy(quick * (1 + 0.02 * std::abs(static_cast<double>(values[0]) - best)), 0.02,
                                          source);
                 });
  simulation.run_until(60);
  const std::size_t before = simulation.log.size();
  EXPECT_EQ(simulation.values(1)[0], 10) << "there was nothing to gain";
  EXPECT_LT(simulation.log.back().time_s, 50) << "and it has settled";
  simulation.run_until(200);
  EXPECT_GT(simulation.log.size(), before);
  EXPECT_NEAR(static_cast<double>(simulation.values(1)[0]), 3, 1);
}

TEST(tuner, tries_the_programs_own_values_ever_more_seldom) {
  changing_world world(3);
  world.run_until(300);
  std::vector<double> begins;
  double latest_s = 0, settled_s = 0;
  for (const decision& decision : world.log) {
    if (begins.empty() && decision.what != outcome::trial) settled_s = decision.time_s;
    if (decision.what != outcome::trial || decision.reason != "the program's own values once more") continue;
    if (begins.empty() || decision.time_s - latest_s > 2) begins.push_back(decision.time_s);
    latest_s = decision.time_s;
  }
  ASSERT_GE(begins.size(), 4u);
  EXPECT_LE(begins.size(), 7u);
  EXPECT_NEAR(begins[0] - settled_s, 5, 1);
  for (std::size_t i = 2; i < begins.size(); ++i)
    EXPECT_GT(begins[i] - begins[i - 1], 1.8 * (begins[i - 1] - begins[i - 2])) << i;
}

TEST(tuner, is_not_misled_by_instances_that_differ_in_turn) {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    engine_options options;
    options.budget_share = 1;
    scenario simulation(options);
    simulation.steering.add(std::make_unique<tuner>(by(search_kind::random, seed)));
    // A V-cycle: small and large in turn, whatever the knobs say.
    simulation.add(loop_of(flat()), [turn = 0, source = random_source(seed)](const auto&, double) mutable {
      return surfaces::noisy(turn++ % 2 == 0 ? 0.005 : 0.02, 0.02, source);
    });
    simulation.run_until(8);
    accepted += count(simulation.log, outcome::kept) > 0;
  }
  EXPECT_LE(accepted, 2);
}

// Two loops, of which the second takes half as long as the first at its beginning; there a grain below 10 saves so much.
struct one_after_the_other : scenario {
  explicit one_after_the_other(double gain) : scenario(with_all()) {
    steering.add(std::make_unique<tuner>(by(search_kind::random)));
    for (const subject_id each : {1u, 2u}) {
      subject_info info = loop_of(flat(), each);
      info.knobs = {numbers("grain", 0, 20, 10)};
      add(info, [each, gain](const std::vector<knob_value>& values, double) {
        return each == 2 ? 0.01 : values[0] < 10 ? 0.02 * (1 - gain) : 0.02;
      });
    }
  }
  static engine_options with_all() {
    engine_options options;
    options.budget_share = 1;
    options.allowance_s = 100;
    return options;
  }
  // Tried after the first change that was kept.
  subject_id next_tried() {
    while (time_s < 60) {
      run();
      const auto kept =
          std::find_if(log.begin(), log.end(), [](const decision& decision) { return decision.what == outcome::kept; });
      const auto tried =
          std::find_if(kept, log.end(), [](const decision& decision) { return decision.what == outcome::trial; });
      if (tried != log.end()) return tried->subject;
    }
    return 0;
  }
};

TEST(tuner, makes_room_for_what_promises_more_than_is_left) {
  EXPECT_EQ(one_after_the_other(0.9).next_tried(), 2u);
  EXPECT_EQ(one_after_the_other(0.2).next_tried(), 1u);
}

// Diagnosed as uneven all the time; the remedy helps from `helps_from_s` on, and is no better before.
struct remedied_late : scenario {
  explicit remedied_late(double helps_from_s) {
    steering.add(std::make_unique<tuner>());
    subject_info info = loop_of(flat());
    info.knobs = {numbers("grain", 0, 20, 10)};
    info.knobs[0].remedies = {{std::string(causes::imbalance), {3}}};
    add(info,
        [helps_from_s](const std::vector<knob_value>& values, double now_s) {
          if (values[0] == 10) return 0.01;
          return values[0] == 3 && now_s > helps_from_s ? 0.005 : 0.011;
        },
        {{std::string(figures::imbalance), 1.9}});
  }
};

TEST(tuner, tries_once_more_what_is_still_diagnosed) {
  remedied_late remedied(1);
  while (remedied.time_s < 1) remedied.run();
  ASSERT_EQ(remedied.values(1)[0], 10);
  ASSERT_GT(count(remedied.log, outcome::trial), 0u);
  remedied.run_until(6);
  EXPECT_EQ(remedied.knobs.accepted(1)[0], 3);
}

TEST(tuner, tries_ever_more_seldom_what_does_not_help) {
  remedied_late remedied(1e9);
  std::size_t before = 0;
  std::vector<double> tried;
  while (remedied.time_s < 100) {
    remedied.run();
    const std::size_t trials = count(remedied.log, outcome::trial);
    if (trials > before && (tried.empty() || remedied.time_s - tried.back() > 0.5)) tried.push_back(remedied.time_s);
    before = trials;
  }
  ASSERT_GE(tried.size(), 5u);
  EXPECT_LE(tried.size(), 8u);
  for (std::size_t i = 2; i < tried.size(); ++i)
    EXPECT_GT(tried[i] - tried[i - 1], 1.5 * (tried[i - 1] - tried[i - 2])) << tried[i];
}

// Three loops alike, the first with twice the time, of which the last is of its group.
struct two_and_a_mate : scenario {
  explicit two_and_a_mate(scripted::script script_of_other) : scenario(with_all()) {
    steering.add(std::make_unique<scripted>(std::move(script_of_other)));
    tuner_options patient = by(search_kind::random);
    patient.patience_s = 1000;
    steering.add(std::make_unique<tuner>(patient));
    for (const subject_id each : {1u, 2u, 3u}) {
      subject_info info = loop_of(flat(), each);
      info.group = each == 2 ? 0 : 9;
      info.knobs = {numbers("grain", 0, 20, 10)};
      add(info, [each](const auto&, double) { return each == 1 ? 0.02 : each == 2 ? 0.01 : 1e-6; });
    }
  }
  static engine_options with_all() {
    engine_options options;
    options.budget_share = 1;
    options.allowance_s = 100;
    return options;
  }
  std::size_t trials(subject_id subject) const {
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&](const decision& decision) {
      return decision.subject == subject && decision.policy == "tuner" && decision.what == outcome::trial;
    }));
  }
};

TEST(tuner, goes_on_with_others_while_another_policy_has_the_most_promising_one) {
  two_and_a_mate pair([](const view& now, std::vector<proposal>& out) {
    if (now.find(1)->last_trial == 0) out.push_back(trial_of(1, {{0, now.find(1)->info.knobs[0].values.at(0)}}));
  });
  pair.run_until(3);
  EXPECT_EQ(pair.trials(1), 0u);
  EXPECT_GT(pair.trials(2), 0u);
}

TEST(tuner, goes_on_with_others_while_one_of_its_subjects_group_is_on_trial) {
  two_and_a_mate pair([](const view& now, std::vector<proposal>& out) {
    const subject_view& mate = *now.find(3);
    if (now.find(1)->last_trial != 0 && mate.last_trial == 0)
      out.push_back(trial_of(3, {{0, mate.info.knobs[0].values.at(0)}}));
  });
  while (pair.time_s < 30 && pair.values(3)[0] == 10) pair.run();
  ASSERT_EQ(pair.values(3)[0], 0) << "between two trials of the first";
  const std::size_t before = pair.trials(1);
  EXPECT_GT(before, 0u);
  EXPECT_LE(pair.trials(2), 1u);
  const double end_s = pair.time_s + 3;
  while (pair.time_s < end_s) pair.run();
  EXPECT_EQ(pair.trials(1), before);
  EXPECT_GT(pair.trials(2), 0u);
}

TEST(tuner, does_not_choose_what_is_not_measured_any_more) {
  engine_options options;
  options.budget_share = 1;
  engine steering(options);
  tuner_options quick = by(search_kind::random);
  quick.patience_s = 0.05;
  steering.add(std::make_unique<tuner>(quick));
  snapshot now;
  for (const subject_id each : {1u, 2u}) now.appeared.push_back(loop_of(flat(), each));
  std::size_t tried[3] = {};
  decision_number active_decision = 0;
  for (int i = 0; i < 2000; ++i) {
    now.time_s += 0.01;
    now.subjects = {{2, {{active_decision, 0.01, 0.002}}, {}}};
    // While the other one's search is under way.
    if (i >= 20 && i < 40) now.subjects.push_back({1, {{0, 0.01, 0.02}}, {}});
    for (const decision& decision : steering.step(now)) {
      if (decision.what == outcome::trial) tried[decision.subject] += 1;
      if (decision.subject == 2) active_decision = decision.number;
    }
    now.appeared.clear();
  }
  EXPECT_EQ(tried[1], 0u);
  EXPECT_GT(tried[2], 5u);
}

TEST(tuner, makes_room_when_its_subject_is_not_measured_any_more) {
  const surfaces::surface model_surface = surfaces::all_surfaces().front();
  engine steering;
  steering.add(std::make_unique<tuner>(by(search_kind::random)));
  board knobs;
  decision_number active_decision = 0;
  std::vector<knob_value> values = model_surface.start;
  const subject_info info = loop_of(model_surface);
  knobs.add(
      info, [&](std::uint32_t knob, knob_value to) { return values[knob] = to, true; },
      [&](auto number) { active_decision = number; });
  snapshot now;
  now.appeared = {info};
  for (int i = 0; i < 2000 && values == model_surface.start; ++i) {
    now.time_s += 1;
    now.subjects = {{1, {{active_decision, 1, 1}}, {}}};
    for (const decision& decision : steering.step(now)) knobs.apply(decision);
    now.appeared.clear();
  }
  ASSERT_NE(values, model_surface.start);
  now.subjects.clear();
  now.time_s += 10;
  for (const decision& decision : steering.step(now)) knobs.apply(decision);
  EXPECT_EQ(values, model_surface.start);
}

}  // namespace
}  // namespace trimtab::steer::testing

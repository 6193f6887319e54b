// The tuner under the engine, on programs that exist in memory only; noise has fixed seeds.
#include "trimtab/steer/tuner.hpp"

#include <algorithm>

#include "../bench/surfaces.hpp"
#include "scenario.hpp"
#include "trimtab/steer/diagnosis.hpp"

namespace trimtab::steer::testing {
namespace {

subject_info loop_of(const surfaces::surface& of, subject_id id = 1) {
  subject_info info{id, of.name, of.knobs};
  for (std::size_t i = 0; i < of.start.size(); ++i) info.knobs[i].initial = of.start[i];
  return info;
}

time_of noisy_time(const surfaces::surface& of, double noise, std::uint64_t seed) {
  return [of, noise, source = random_source(seed)](const std::vector<knob_value>& values, double) mutable {
    return surfaces::noisy(of.seconds(values), noise, source);
  };
}

surfaces::surface flat() {
  surfaces::surface of = surfaces::all_surfaces().front();
  of.name = "flat";
  of.seconds = [](const std::vector<knob_value>&) { return 0.01; };
  return of;
}

tuner_options by(search_kind kind, std::uint64_t seed = 1) {
  tuner_options options;
  options.kind = kind;
  options.seed = seed;
  return options;
}

std::size_t count(const std::vector<decision>& log, outcome what) {
  return static_cast<std::size_t>(
      std::count_if(log.begin(), log.end(), [&](const decision& each) { return each.what == what; }));
}

class tuned_by : public ::testing::TestWithParam<search_kind> {};

TEST_P(tuned_by, gains_what_is_to_be_gained_within_the_budget) {
  for (const surfaces::surface& of : surfaces::all_surfaces()) {
    if (of.hints.empty()) continue;
    engine_options options;
    options.budget_share = 0.1;
    scenario here(options);
    here.steering.add(std::make_unique<tuner>(by(GetParam())));
    subject_info info = loop_of(of);
    for (std::size_t i = 0; i < info.knobs.size(); ++i) {
      remedy what{std::string(causes::imbalance), {}};
      for (const auto& hint : of.hints) what.values.push_back(hint[i]);
      info.knobs[i].remedies.push_back(what);
    }
    here.add(info, noisy_time(of, 0.03, 5), {{std::string(figures::imbalance), 1.9}});
    // Long enough that the budget allows for every search.
    here.run_until(of.seconds(of.start) * 3000);
    const double best = surfaces::best_of(of), start = of.seconds(of.start), end = of.seconds(here.values(1));
    EXPECT_LT(end - best, 0.3 * (start - best)) << of.name << ": " << start << " -> " << end << ", best " << best;
    EXPECT_EQ(here.knobs.accepted(1), here.values(1));
    // What one measurement of the worst candidate takes may come on top.
    EXPECT_LT(here.steering.spent().spent_s(), 0.1 * here.time_s + 20 * start);
    ASSERT_GT(count(here.log, outcome::kept), 0u);
    for (const decision& each : here.log)
      if (each.what == outcome::kept) {
        EXPECT_GT(each.gain.pairs, 5u);
        EXPECT_GT(each.gain.gain, 0.02);
        EXPECT_FALSE(each.reason.empty());
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
    scenario here(options);
    here.steering.add(std::make_unique<tuner>(by(search_kind::random, seed)));
    here.add(loop_of(flat()), noisy_time(flat(), 0.1, seed));
    here.run_until(8);
    EXPECT_GT(count(here.log, outcome::trial), 20u);
    accepted += count(here.log, outcome::kept) > 0;
  }
  EXPECT_LE(accepted, runs / 20);
}

TEST(tuner, keeps_its_hands_off_where_nothing_is_wrong) {
  scenario here;
  here.steering.add(std::make_unique<tuner>());
  subject_info info = loop_of(flat());
  info.knobs[1].remedies = {{std::string(causes::imbalance), {1, 2}}};
  here.add(info, noisy_time(flat(), 0.05, 3), {{std::string(figures::imbalance), 1.02}});
  here.run_until(60);
  EXPECT_TRUE(here.log.empty());
}

TEST(tuner, leaves_alone_what_is_too_small_to_gain) {
  const surfaces::surface of = surfaces::all_surfaces().front();
  scenario here;
  here.steering.add(std::make_unique<tuner>(by(search_kind::random)));
  subject_info dear = loop_of(of);
  dear.knobs[0].change_cost_s = 1;  // 20 changes would take far longer than a measurement
  here.add(dear, noisy_time(of, 0.03, 1));
  subject_info rare = loop_of(of, 2);
  here.add(rare, [](const std::vector<knob_value>& values, double) { return values[0] == 32 ? 1e-4 : 1e-5; });
  here.run_until(60);
  EXPECT_TRUE(here.log.empty());
}

// Tuned every so often; the best grain moves from 3 after a minute, when the machine gets others to serve.
struct changing_world : scenario {
  explicit changing_world(double then, double drift = tuner_options{}.drift, double recheck_s = 5) : scenario(affluent()) {
    tuner_options often = by(search_kind::hill_climbing);
    often.recheck_s = recheck_s;
    often.drift = drift;
    steering.add(std::make_unique<tuner>(often));
    random_source source(4);
    add({1, "loop", {numbers("grain", 0, 20, 10)}},
        [source, then](const std::vector<knob_value>& values, double now_s) mutable {
          const double best = now_s < 60 ? 3 : then;
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
  changing_world here(17);
  here.run_until(59);
  EXPECT_NEAR(static_cast<double>(here.values(1)[0]), 3, 1);
  here.run_until(200);
  EXPECT_NEAR(static_cast<double>(here.values(1)[0]), 17, 1);
}

TEST(tuner, returns_to_the_programs_own_values_when_they_are_better_again) {
  changing_world here(10, 100);
  here.run_until(200);
  EXPECT_EQ(here.values(1)[0], 10);
}

TEST(tuner, searches_at_once_when_the_world_has_changed_since_it_settled) {
  changing_world here(17, tuner_options{}.drift, 70);
  here.run_until(200);
  const auto next = std::find_if(here.log.begin(), here.log.end(), [](const decision& each) { return each.time_s > 60; });
  ASSERT_NE(next, here.log.end());
  EXPECT_LT(next->time_s, 62) << "and not when its own values are due";
  EXPECT_EQ(next->reason.find("own values"), std::string::npos) << "they are no longer what it is measured by";
  EXPECT_NEAR(static_cast<double>(here.values(1)[0]), 17, 1);
}

TEST(tuner, searches_again_when_everything_has_become_quicker) {
  scenario here(changing_world::affluent());
  tuner_options often = by(search_kind::hill_climbing);
  often.recheck_s = 5;
  here.steering.add(std::make_unique<tuner>(often));
  here.add({1, "loop", {numbers("grain", 0, 20, 10)}},
           [source = random_source(4)](const std::vector<knob_value>& values, double now_s) mutable {
             const double quick = now_s < 60 ? 0.01 : 0.004, best = now_s < 60 ? 10 : 3;
             return surfaces::noisy(quick * (1 + 0.02 * std::abs(static_cast<double>(values[0]) - best)), 0.02, source);
           });
  here.run_until(60);
  const std::size_t before = here.log.size();
  EXPECT_EQ(here.values(1)[0], 10) << "there was nothing to gain";
  EXPECT_LT(here.log.back().time_s, 50) << "and it has settled";
  here.run_until(200);
  EXPECT_GT(here.log.size(), before);
  EXPECT_NEAR(static_cast<double>(here.values(1)[0]), 3, 1);
}

TEST(tuner, tries_the_programs_own_values_ever_more_seldom) {
  changing_world here(3);
  here.run_until(300);
  std::vector<double> begins;
  double latest_s = 0, settled_s = 0;
  for (const decision& each : here.log) {
    if (begins.empty() && each.what != outcome::trial) settled_s = each.time_s;
    if (each.what != outcome::trial || each.reason != "the program's own values once more") continue;
    if (begins.empty() || each.time_s - latest_s > 2) begins.push_back(each.time_s);
    latest_s = each.time_s;
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
    scenario here(options);
    here.steering.add(std::make_unique<tuner>(by(search_kind::random, seed)));
    // A V-cycle: small and large in turn, whatever the knobs say.
    here.add(loop_of(flat()), [turn = 0, source = random_source(seed)](const auto&, double) mutable {
      return surfaces::noisy(turn++ % 2 == 0 ? 0.005 : 0.02, 0.02, source);
    });
    here.run_until(8);
    accepted += count(here.log, outcome::kept) > 0;
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
          std::find_if(log.begin(), log.end(), [](const decision& each) { return each.what == outcome::kept; });
      const auto tried = std::find_if(kept, log.end(), [](const decision& each) { return each.what == outcome::trial; });
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
  remedied_late here(1);
  while (here.time_s < 1) here.run();
  ASSERT_EQ(here.values(1)[0], 10);
  ASSERT_GT(count(here.log, outcome::trial), 0u);
  here.run_until(6);
  EXPECT_EQ(here.knobs.accepted(1)[0], 3);
}

TEST(tuner, tries_ever_more_seldom_what_does_not_help) {
  remedied_late here(1e9);
  std::size_t before = 0;
  std::vector<double> tried;
  while (here.time_s < 100) {
    here.run();
    const std::size_t trials = count(here.log, outcome::trial);
    if (trials > before && (tried.empty() || here.time_s - tried.back() > 0.5)) tried.push_back(here.time_s);
    before = trials;
  }
  ASSERT_GE(tried.size(), 5u);
  EXPECT_LE(tried.size(), 8u);
  for (std::size_t i = 2; i < tried.size(); ++i)
    EXPECT_GT(tried[i] - tried[i - 1], 1.5 * (tried[i - 1] - tried[i - 2])) << tried[i];
}

// Three loops alike, the first with twice the time, of which the last is of its group.
struct two_and_a_mate : scenario {
  explicit two_and_a_mate(scripted::script of_another) : scenario(with_all()) {
    steering.add(std::make_unique<scripted>(std::move(of_another)));
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
  std::size_t trials(subject_id of) const {
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&](const decision& each) {
      return each.subject == of && each.policy == "tuner" && each.what == outcome::trial;
    }));
  }
};

TEST(tuner, goes_on_with_others_while_another_policy_has_the_most_promising_one) {
  two_and_a_mate here([](const view& now, std::vector<proposal>& out) {
    if (now.find(1)->last_trial == 0) out.push_back(trial_of(1, {{0, now.find(1)->info.knobs[0].values.at(0)}}));
  });
  here.run_until(3);
  EXPECT_EQ(here.trials(1), 0u);
  EXPECT_GT(here.trials(2), 0u);
}

TEST(tuner, goes_on_with_others_while_one_of_its_subjects_group_is_on_trial) {
  two_and_a_mate here([](const view& now, std::vector<proposal>& out) {
    const subject_view& mate = *now.find(3);
    if (now.find(1)->last_trial != 0 && mate.last_trial == 0)
      out.push_back(trial_of(3, {{0, mate.info.knobs[0].values.at(0)}}));
  });
  while (here.time_s < 30 && here.values(3)[0] == 10) here.run();
  ASSERT_EQ(here.values(3)[0], 0) << "between two trials of the first";
  const std::size_t before = here.trials(1);
  EXPECT_GT(before, 0u);
  EXPECT_LE(here.trials(2), 1u);
  const double end_s = here.time_s + 3;
  while (here.time_s < end_s) here.run();
  EXPECT_EQ(here.trials(1), before);
  EXPECT_GT(here.trials(2), 0u);
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
  decision_number under = 0;
  for (int i = 0; i < 2000; ++i) {
    now.time_s += 0.01;
    now.subjects = {{2, {{under, 0.01, 0.002}}, {}}};
    // While the other one's search is under way.
    if (i >= 20 && i < 40) now.subjects.push_back({1, {{0, 0.01, 0.02}}, {}});
    for (const decision& each : steering.step(now)) {
      if (each.what == outcome::trial) tried[each.subject] += 1;
      if (each.subject == 2) under = each.number;
    }
    now.appeared.clear();
  }
  EXPECT_EQ(tried[1], 0u);
  EXPECT_GT(tried[2], 5u);
}

TEST(tuner, makes_room_when_its_subject_is_not_measured_any_more) {
  const surfaces::surface of = surfaces::all_surfaces().front();
  engine steering;
  steering.add(std::make_unique<tuner>(by(search_kind::random)));
  board knobs;
  decision_number under = 0;
  std::vector<knob_value> values = of.start;
  const subject_info info = loop_of(of);
  knobs.add(
      info, [&](std::uint32_t knob, knob_value to) { return values[knob] = to, true; },
      [&](auto number) { under = number; });
  snapshot now;
  now.appeared = {info};
  for (int i = 0; i < 2000 && values == of.start; ++i) {
    now.time_s += 1;
    now.subjects = {{1, {{under, 1, 1}}, {}}};
    for (const decision& each : steering.step(now)) knobs.apply(each);
    now.appeared.clear();
  }
  ASSERT_NE(values, of.start);
  now.subjects.clear();
  now.time_s += 10;
  for (const decision& each : steering.step(now)) knobs.apply(each);
  EXPECT_EQ(values, of.start);
}

}  // namespace
}  // namespace trimtab::steer::testing

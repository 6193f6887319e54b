#include "trimtab/steer/history_policy.hpp"

#include <algorithm>
#include <cmath>

#include "scenario.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::steer::testing {
namespace {

subject_info loop_of(subject_id id, const char* name) {
  return {id, name, {numbers("chunk", 1, 20, 1, 0.5), kinds("schedule", {"static", "dynamic"})}};
}
std::string name_of_it(const subject_info& subject) { return subject.name; }

std::vector<setting> known() {
  return {{"known", {{"chunk", "8"}, {"schedule", "dynamic"}, {"schedule.note", "its adapter's"}}},
          {"misfit", {{"chunk", "8"}, {"schedule", "fac2"}}}};
}

double seconds(const std::vector<knob_value>& values, double) {
  return 0.01 * (1 + 0.1 * std::abs(static_cast<double>(values[0]) - 15));
}

TEST(history_policy, sets_what_is_known_at_once_and_free_of_charge) {
  scenario simulation;
  auto history = std::make_unique<history_policy>(known(), name_of_it);
  const history_policy& kept = *history;
  simulation.steering.add(std::move(history));
  simulation.add(loop_of(1, "known"), seconds);
  simulation.add(loop_of(2, "unknown"), seconds);
  simulation.add(loop_of(3, "misfit"), seconds);
  simulation.run();
  EXPECT_EQ(simulation.values(1), (std::vector<knob_value>{8, 1}));
  EXPECT_EQ(simulation.values(2), (std::vector<knob_value>{1, 0}));
  EXPECT_EQ(simulation.values(3), (std::vector<knob_value>{1, 0})) << "all of a setting, or nothing";
  EXPECT_EQ(simulation.steering.spent().spent_s(), 0);
  ASSERT_EQ(kept.misfits().size(), 1u);
  EXPECT_NE(kept.misfits()[0].find("fac2"), std::string::npos);
  simulation.run_until(5);
  EXPECT_EQ(simulation.log.size(), 1u) << "frozen: nothing else is changed";
  EXPECT_EQ(simulation.log[0].what, outcome::set);
  EXPECT_EQ(simulation.values(1), (std::vector<knob_value>{8, 1}));
}

TEST(history_policy, leaves_the_subject_to_a_search) {
  engine_options options;
  options.budget_share = 0.5;
  scenario simulation(options);
  simulation.steering.add(std::make_unique<history_policy>(known(), name_of_it));
  tuner_options tuning;
  tuning.kind = search_kind::hill_climbing;
  simulation.steering.add(std::make_unique<tuner>(tuning));
  subject_info cheap = loop_of(1, "known");
  cheap.knobs[0].change_cost_s = 0;
  simulation.add(cheap, seconds);
  simulation.run_until(20);
  EXPECT_EQ(simulation.values(1)[0], 15);
}

// A kept setting gives way only to what is better than it, in fresh pairs, and not to what is better than the program's own.
TEST(history_policy, what_is_kept_stays_while_all_else_is_worse_than_it) {
  const auto with_noise = [](std::uint64_t seed) -> time_of {
    return [source = random_source(seed)](const std::vector<knob_value>& values, double) mutable {
      const double level = values[0] == 8 ? 0.4 : values[0] == 1 ? 1.0 : 0.55;
      return 0.01 * level * (0.85 + 0.3 * source.share());
    };
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    engine_options options;
    options.budget_share = 0.5;
    scenario simulation(options);
    simulation.steering.add(std::make_unique<history_policy>(known(), name_of_it));
    tuner_options tuning;
    tuning.kind = search_kind::random;
    tuning.seed = seed;
    tuning.recheck_s = 1;
    simulation.steering.add(std::make_unique<tuner>(tuning));
    subject_info cheap = loop_of(1, "known");
    cheap.knobs[0].change_cost_s = 0;
    simulation.add(cheap, with_noise(seed));
    simulation.run_until(10);
    EXPECT_EQ(simulation.values(1)[0], 8) << "seed " << seed;
    const auto tried = std::count_if(simulation.log.begin(), simulation.log.end(),
                                     [](const decision& decision) { return decision.what == outcome::trial; });
    EXPECT_GT(tried, 20) << "others were tried";
  }
}

TEST(history_policy, waits_while_another_policy_has_the_subject_on_trial) {
  engine_options options;
  options.allowance_s = 100;
  scenario simulation(options);
  simulation.steering.add(std::make_unique<scripted_rule>([](const view& now, std::vector<proposal>& out) {
    const subject_view& subject = *now.find(1);
    if (subject.last_trial == 0) out.push_back(trial_of(1, {{0, 2}}));
    if (subject.in_force[0] == 2 && now.time_s > 1) out.push_back(ending(1, outcome::undone));
  }));
  simulation.steering.add(std::make_unique<history_policy>(known(), name_of_it));
  simulation.add(loop_of(1, "known"), seconds);
  while (simulation.time_s < 0.9) simulation.run();
  EXPECT_EQ(simulation.values(1), (std::vector<knob_value>{2, 0}));
  while (simulation.time_s < 2) simulation.run();
  EXPECT_EQ(simulation.values(1), (std::vector<knob_value>{8, 1}));
  EXPECT_EQ(simulation.steering.counts().others, 0u);
}

TEST(history_policy, knows_a_subject_that_comes_again) {
  engine steering;
  steering.add(std::make_unique<history_policy>(known(), name_of_it));
  snapshot now;
  now.appeared = {loop_of(1, "unknown")};
  EXPECT_TRUE(steering.step(now).empty());
  now.appeared.clear();
  now.gone = {1};
  EXPECT_TRUE(steering.step(now).empty());
  now.gone.clear();
  now.appeared = {loop_of(1, "known")};
  EXPECT_EQ(steering.step(now).size(), 1u);
}

}  // namespace
}  // namespace trimtab::steer::testing

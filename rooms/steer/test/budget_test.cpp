// What search costs, and what it may: as a sum, and as the engine charges it.
#include "trimtab/steer/budget.hpp"

#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

TEST(level, is_the_median_of_the_latest_nine) {
  level signal_level;
  EXPECT_FALSE(signal_level.is_known());
  EXPECT_EQ(signal_level.value(), 0);
  for (int i = 1; i <= 13; ++i) signal_level.add(i);
  EXPECT_EQ(signal_level.value(), 9);
  signal_level.forget();
  EXPECT_FALSE(signal_level.is_known());
  signal_level.add(4);
  signal_level.add(2);
  EXPECT_EQ(signal_level.value(), 3) << "of an even number";
  signal_level.forget();
  for (const double each : {1, 1, 1, 1, 9, 9, 9, 9, 9}) signal_level.add(each);
  for (int i = 0; i < 4; ++i) signal_level.add(5);
  EXPECT_EQ(signal_level.value(), 9) << "the oldest are left out first";
}

TEST(budget, is_a_share_of_the_run_and_something_to_begin_with) {
  budget trial_budget(0.1, 2);
  EXPECT_DOUBLE_EQ(trial_budget.left_s(10), 3);
  trial_budget.charge_change(0.5);
  EXPECT_DOUBLE_EQ(trial_budget.left_s(10), 2.5);
}

TEST(budget, what_one_trial_gains_pays_for_no_other) {
  budget trial_budget(0, 0);
  trial_budget.charge_trial(1, 2, 2, 1);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 1);
  trial_budget.charge_trial(1, 4, 0.5, 1);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 0) << "it has gained more than that";
  trial_budget.charge_trial(2, 1, 2, 1);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 0.5);
  trial_budget.charge_trial(1, 4, 2, 1);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 0.5) << "still less than it gained";
  trial_budget.charge_trial(1, 4, 2, 1);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 1.5);
  trial_budget.charge_trial(3, 1, 0, 0);
  EXPECT_DOUBLE_EQ(trial_budget.spent_s(), 1.5) << "nothing can be said of it";
}

constexpr double change_s = 0.5, instance_s = 0.4;

// A policy that proposes what the test says, once; a program of one subject.
template <class kind>
struct priced : scenario {
  explicit priced(double allowance_s) : scenario(with(allowance_s)) {
    steering.add(std::make_unique<kind>([this](const view&, std::vector<proposal>& out) {
      if (next) out.push_back(*std::exchange(next, std::nullopt));
    }));
    add({1, "loop", {numbers("chunk", 1, 8, 1, change_s)}}, [this](const auto&, double) { return seconds; });
  }
  static engine_options with(double allowance_s) {
    engine_options options;
    options.budget_share = 0;
    options.allowance_s = allowance_s;
    return options;
  }
  // What is made of it; nothing: it was refused.
  std::optional<outcome> propose(proposal wanted) {
    next = std::move(wanted);
    const std::size_t before = log.size();
    run();
    return log.size() == before ? std::nullopt : std::optional(log.back().what);
  }
  std::optional<outcome> try_value(knob_value to) { return propose(trial_of(1, {{0, to}})); }
  std::optional<outcome> set_value(knob_value to) { return propose(setting_of(1, {{0, to}})); }
  double spent_s() const { return steering.spent().spent_s(); }
  // A measurement that comes late.
  void measured(decision_number active_decision) {
    snapshot now;
    now.time_s = time_s;
    now.subjects = {{1, {{active_decision, instance_s, instance_s}}, {}}};
    tell(now);
  }

  double seconds = instance_s;
  std::optional<proposal> next;
};
using priced_search = priced<scripted>;
using priced_rule = priced<scripted_rule>;

TEST(prices, changes_cost_a_search_each_way) {
  priced_search searching(100);
  searching.run();
  ASSERT_EQ(searching.try_value(2), outcome::trial);
  EXPECT_DOUBLE_EQ(searching.spent_s(), change_s);
  ASSERT_EQ(searching.propose(ending(1, outcome::undone)), outcome::undone);
  EXPECT_DOUBLE_EQ(searching.spent_s(), 2 * change_s);
  ASSERT_EQ(searching.try_value(3), outcome::trial);
  ASSERT_EQ(searching.propose(ending(1, outcome::kept)), outcome::kept);
  EXPECT_DOUBLE_EQ(searching.spent_s(), 3 * change_s) << "it stays";
  ASSERT_EQ(searching.set_value(5), outcome::set);
  EXPECT_DOUBLE_EQ(searching.spent_s(), 4 * change_s);
}

TEST(prices, what_a_rule_sets_is_free_and_what_it_tries_is_not) {
  priced_rule rule_only(0);
  rule_only.run();
  EXPECT_EQ(rule_only.set_value(2), outcome::set);
  EXPECT_EQ(rule_only.spent_s(), 0);
  rule_only.run();
  EXPECT_EQ(rule_only.try_value(3), std::nullopt);
  EXPECT_EQ(rule_only.steering.counts().budget, 1u);
  priced_rule rich(100);
  rich.run();
  EXPECT_EQ(rich.try_value(3), outcome::trial);
  EXPECT_DOUBLE_EQ(rich.spent_s(), change_s);
}

TEST(prices, there_must_be_enough_for_the_way_back_and_for_a_measurement_that_takes_longer) {
  constexpr double needed_s = 2 * change_s + 0.25 * instance_s;
  for (const double more : {-0.01, 0.01}) {
    priced_search searching(needed_s + more), setting(2 * change_s + more);
    searching.run();
    EXPECT_EQ(searching.try_value(2), more > 0 ? std::optional(outcome::trial) : std::nullopt);
    EXPECT_EQ(setting.set_value(2), more > 0 ? std::optional(outcome::set) : std::nullopt);
  }
}

TEST(prices, nothing_is_tried_before_its_level_is_known) {
  priced_search searching(100), setting(100);
  searching.next = trial_of(1, {{0, 2}});
  setting.next = setting_of(1, {{0, 2}});
  snapshot now;
  now.appeared = {{1, "loop", {numbers("chunk", 1, 8, 1, change_s)}}};
  searching.tell(now);
  EXPECT_TRUE(searching.log.empty());
  EXPECT_EQ(searching.steering.counts().budget, 1u);
  setting.tell(now);
  EXPECT_EQ(setting.log.size(), 1u) << "what is set is compared with nothing";
  searching.run();
  EXPECT_EQ(searching.try_value(2), outcome::trial);
}

TEST(prices, the_level_is_that_of_what_is_accepted_now) {
  priced_search searching(100);
  for (int i = 0; i < 20; ++i) searching.run();
  ASSERT_EQ(searching.try_value(2), outcome::trial);
  const decision_number trial = searching.log.back().number;
  searching.seconds = instance_s / 2;
  ASSERT_EQ(searching.propose(ending(1, outcome::kept)), outcome::kept);
  searching.measured(trial);
  searching.measured(0);
  EXPECT_DOUBLE_EQ(searching.spent_s(), change_s) << "what is accepted now costs nothing any more";
  searching.next = trial_of(1, {{0, 3}});
  searching.measured(trial);
  EXPECT_EQ(searching.log.back().what, outcome::kept) << "what was measured of others is not its level";
  searching.run();
  ASSERT_EQ(searching.try_value(3), outcome::trial);
  searching.seconds = instance_s;
  searching.run();
  EXPECT_DOUBLE_EQ(searching.spent_s(), 2 * change_s + instance_s / 2);
}

}  // namespace
}  // namespace trimtab::steer::testing

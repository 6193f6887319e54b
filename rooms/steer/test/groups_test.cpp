// Subjects whose measurements change with each other's knobs: a region and its loops.
#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info of_threads{1, "region", {numbers("threads", 1, 4, 4)}, 99},
    its_loop{2, "loop", {numbers("chunk", 1, 8, 1)}, 99}, another_loop{3, "elsewhere", {numbers("chunk", 1, 8, 1)}, 98},
    of_no_group{4, "alone", {numbers("chunk", 1, 8, 1)}}, nor_this_one{5, "alone, too", {numbers("chunk", 1, 8, 1)}};

double always_10_ms(const std::vector<knob_value>&, double) { return 0.01; }

struct a_group : scenario {
  explicit a_group(scripted::script script_run) {
    steering.add(std::make_unique<scripted>(std::move(script_run)));
    for (const subject_info& each : {of_threads, its_loop, another_loop, of_no_group, nor_this_one}) add(each, always_10_ms);
  }
  void run_to(double end_s) {
    while (time_s < end_s) run();
  }
  // One measurement of a subject, of half a second.
  void measured(subject_id subject, decision_number decision_beside) {
    snapshot now;
    now.time_s = time_s;
    now.subjects = {{subject, {{0, 0.5, 0.5, decision_beside}}, {}}};
    tell(now);
  }
  std::vector<subject_id> tried() const {
    std::vector<subject_id> all;
    for (const decision& decision : log)
      if (decision.what == outcome::trial) all.push_back(decision.subject);
    return all;
  }
};

// Wants all of them on trial, and then to end that of the region.
scripted::script try_all(outcome in_the_end = outcome::undone) {
  return [in_the_end](const view& now, std::vector<proposal>& out) {
    if (now.time_s < 1) return;
    for (const subject_view& subject : now.subjects) {
      const bool is_region = subject.info.id == of_threads.id,
                 is_tried = subject.in_force[0] != subject.info.knobs[0].initial;
      if (!is_tried && (!is_region || now.time_s < 2)) out.push_back(trial_of(subject.info.id, {{0, 2}}));
      if (is_region && subject.in_force[0] != subject.accepted[0] && now.time_s > 2) out.push_back(ending(1, in_the_end));
    }
  };
}

TEST(groups, have_one_on_trial_at_a_time) {
  for (const outcome in_the_end : {outcome::undone, outcome::kept}) {
    a_group group_run(try_all(in_the_end));
    group_run.run_to(1.9);
    EXPECT_EQ(group_run.tried(), (std::vector<subject_id>{1, 3, 4, 5})) << "others are not in its group, or in none";
    EXPECT_GT(group_run.steering.counts().others, 0u);
    group_run.run_to(3);
    EXPECT_EQ(group_run.tried(), (std::vector<subject_id>{1, 3, 4, 5, 2})) << "after the other";
  }
}

TEST(groups, are_free_when_the_one_on_trial_is_gone) {
  a_group group_run(try_all());
  group_run.run_to(1.5);
  ASSERT_EQ(group_run.tried().front(), 1u);
  snapshot now;
  now.time_s = group_run.time_s;
  now.gone = {1};
  group_run.tell(now);
  EXPECT_EQ(group_run.tried().back(), 2u);
}

TEST(groups, are_free_when_the_policy_of_the_one_on_trial_is_disabled) {
  a_group group_run([](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 2) throw 1;
    if (now.time_s > 1) out.push_back(trial_of(1, {{0, 2}}));
  });
  group_run.steering.add(std::make_unique<scripted>(
      [](const view& now, std::vector<proposal>& out) {
        if (now.time_s > 1.5) out.push_back(trial_of(2, {{0, 2}}));
      },
      "other"));
  group_run.run_to(1.9);
  EXPECT_EQ(group_run.tried(), std::vector<subject_id>{1});
  group_run.run_to(3);
  EXPECT_EQ(group_run.tried(), (std::vector<subject_id>{1, 2}));
}

TEST(groups, let_the_one_on_trial_go_on_to_the_next_candidate) {
  a_group group_run([](const view& now, std::vector<proposal>& out) {
    EXPECT_FALSE(now.find(1)->is_others) << "it is not beside itself";
    if (now.time_s > 1) out.push_back(trial_of(1, {{0, now.time_s < 2 ? 2 : 3}}));
  });
  group_run.run_to(3);
  EXPECT_EQ(group_run.tried(), (std::vector<subject_id>{1, 1}));
  EXPECT_EQ(group_run.values(1)[0], 3);
}

// What it sets is no trial.
TEST(groups, leave_rules_what_they_set) {
  a_group group_run(try_all());
  group_run.steering.add(std::make_unique<scripted_rule>(
      [](const view& now, std::vector<proposal>& out) {
        if (now.time_s > 1.5 && now.time_s < 1.9) out.push_back(setting_of(2, {{0, 8}}));
      },
      "rule"));
  group_run.run_to(1.95);
  ASSERT_EQ(group_run.log.back().subject, 2u);
  EXPECT_EQ(group_run.log.back().what, outcome::set);
  EXPECT_EQ(group_run.values(1)[0], 2) << "the trial goes on";
}

TEST(groups, leave_out_what_was_measured_beside_a_trial) {
  std::vector<double> values_seen;
  a_group group_run([&, all = try_all()](const view& now, std::vector<proposal>& out) {
    all(now, out);
    EXPECT_EQ(now.find(2)->is_others, now.find(1)->in_force[0] == 2);
    for (const measurement& measurement : now.find(2)->measured) values_seen.push_back(measurement.value);
  });
  group_run.run_to(1.5);
  const decision_number trial = group_run.log[0].number;
  values_seen.clear();
  group_run.measured(2, trial);
  EXPECT_TRUE(values_seen.empty());
  EXPECT_EQ(group_run.steering.counts().beside_trials, 1u);
  group_run.measured(2, 0);
  EXPECT_EQ(values_seen.size(), 1u) << "begun before the trial";
  while (group_run.log.back().what != outcome::trial || group_run.log.back().subject != 2) group_run.run();
  values_seen.clear();
  group_run.measured(2, trial);
  EXPECT_TRUE(values_seen.empty()) << "told late";
  group_run.measured(2, group_run.log[group_run.log.size() - 2].number);
  EXPECT_EQ(values_seen.size(), 1u) << "beside what was undone";
}

// A search may have what was accepted among its candidates.
TEST(groups, count_what_was_measured_beside_a_candidate_that_is_what_was_accepted) {
  std::vector<double> values_seen;
  a_group group_run([&](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 1 && now.find(1)->last_trial == 0) out.push_back(trial_of(1, {{0, 2}}));
    if (now.time_s > 2 && now.find(1)->in_force[0] == 2) out.push_back(trial_of(1, {{0, 4}}));
    for (const measurement& measurement : now.find(2)->measured) values_seen.push_back(measurement.value);
  });
  while (group_run.log.size() < 2) group_run.run();
  ASSERT_EQ(group_run.log[1].what, outcome::trial);
  values_seen.clear();
  group_run.measured(2, group_run.log[1].number);
  EXPECT_EQ(values_seen, std::vector<double>{0.5});
  EXPECT_EQ(group_run.steering.counts().beside_trials, 0u);
}

}  // namespace
}  // namespace trimtab::steer::testing

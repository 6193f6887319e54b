// Subjects whose measurements change with each other's knobs: a region and its loops.
#include "scenario.hpp"

namespace trimtab::steer::testing {
namespace {

const subject_info of_threads{1, "region", {numbers("threads", 1, 4, 4)}, 99},
    its_loop{2, "loop", {numbers("chunk", 1, 8, 1)}, 99}, another_loop{3, "elsewhere", {numbers("chunk", 1, 8, 1)}, 98},
    of_no_group{4, "alone", {numbers("chunk", 1, 8, 1)}}, nor_this_one{5, "alone, too", {numbers("chunk", 1, 8, 1)}};

double always_10_ms(const std::vector<knob_value>&, double) { return 0.01; }

struct a_group : scenario {
  explicit a_group(scripted::script what) {
    steering.add(std::make_unique<scripted>(std::move(what)));
    for (const subject_info& each : {of_threads, its_loop, another_loop, of_no_group, nor_this_one}) add(each, always_10_ms);
  }
  void run_to(double end_s) {
    while (time_s < end_s) run();
  }
  // One measurement of a subject, of half a second.
  void measured(subject_id subject, decision_number beside) {
    snapshot now;
    now.time_s = time_s;
    now.subjects = {{subject, {{0, 0.5, 0.5, beside}}, {}}};
    tell(now);
  }
  std::vector<subject_id> tried() const {
    std::vector<subject_id> all;
    for (const decision& each : log)
      if (each.what == outcome::trial) all.push_back(each.subject);
    return all;
  }
};

// Wants all of them on trial, and then to end that of the region.
scripted::script try_all(outcome in_the_end = outcome::undone) {
  return [in_the_end](const view& now, std::vector<proposal>& out) {
    if (now.time_s < 1) return;
    for (const subject_view& each : now.subjects) {
      const bool is_region = each.info.id == of_threads.id, is_tried = each.in_force[0] != each.info.knobs[0].initial;
      if (!is_tried && (!is_region || now.time_s < 2)) out.push_back(trial_of(each.info.id, {{0, 2}}));
      if (is_region && each.in_force[0] != each.accepted[0] && now.time_s > 2) out.push_back(ending(1, in_the_end));
    }
  };
}

TEST(groups, have_one_on_trial_at_a_time) {
  for (const outcome in_the_end : {outcome::undone, outcome::kept}) {
    a_group here(try_all(in_the_end));
    here.run_to(1.9);
    EXPECT_EQ(here.tried(), (std::vector<subject_id>{1, 3, 4, 5})) << "others are not in its group, or in none";
    EXPECT_GT(here.steering.counts().others, 0u);
    here.run_to(3);
    EXPECT_EQ(here.tried(), (std::vector<subject_id>{1, 3, 4, 5, 2})) << "after the other";
  }
}

TEST(groups, are_free_when_the_one_on_trial_is_gone) {
  a_group here(try_all());
  here.run_to(1.5);
  ASSERT_EQ(here.tried().front(), 1u);
  snapshot now;
  now.time_s = here.time_s;
  now.gone = {1};
  here.tell(now);
  EXPECT_EQ(here.tried().back(), 2u);
}

TEST(groups, are_free_when_the_policy_of_the_one_on_trial_is_disabled) {
  a_group here([](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 2) throw 1;
    if (now.time_s > 1) out.push_back(trial_of(1, {{0, 2}}));
  });
  here.steering.add(std::make_unique<scripted>(
      [](const view& now, std::vector<proposal>& out) {
        if (now.time_s > 1.5) out.push_back(trial_of(2, {{0, 2}}));
      },
      "other"));
  here.run_to(1.9);
  EXPECT_EQ(here.tried(), std::vector<subject_id>{1});
  here.run_to(3);
  EXPECT_EQ(here.tried(), (std::vector<subject_id>{1, 2}));
}

TEST(groups, let_the_one_on_trial_go_on_to_the_next_candidate) {
  a_group here([](const view& now, std::vector<proposal>& out) {
    EXPECT_FALSE(now.find(1)->is_others) << "it is not beside itself";
    if (now.time_s > 1) out.push_back(trial_of(1, {{0, now.time_s < 2 ? 2 : 3}}));
  });
  here.run_to(3);
  EXPECT_EQ(here.tried(), (std::vector<subject_id>{1, 1}));
  EXPECT_EQ(here.values(1)[0], 3);
}

// What it sets is no trial.
TEST(groups, leave_rules_what_they_set) {
  a_group here(try_all());
  here.steering.add(std::make_unique<scripted_rule>(
      [](const view& now, std::vector<proposal>& out) {
        if (now.time_s > 1.5 && now.time_s < 1.9) out.push_back(setting_of(2, {{0, 8}}));
      },
      "rule"));
  here.run_to(1.95);
  ASSERT_EQ(here.log.back().subject, 2u);
  EXPECT_EQ(here.log.back().what, outcome::set);
  EXPECT_EQ(here.values(1)[0], 2) << "the trial goes on";
}

TEST(groups, leave_out_what_was_measured_beside_a_trial) {
  std::vector<double> seen;
  a_group here([&, all = try_all()](const view& now, std::vector<proposal>& out) {
    all(now, out);
    EXPECT_EQ(now.find(2)->is_others, now.find(1)->in_force[0] == 2);
    for (const measurement& each : now.find(2)->measured) seen.push_back(each.value);
  });
  here.run_to(1.5);
  const decision_number trial = here.log[0].number;
  seen.clear();
  here.measured(2, trial);
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(here.steering.counts().beside_trials, 1u);
  here.measured(2, 0);
  EXPECT_EQ(seen.size(), 1u) << "begun before the trial";
  while (here.log.back().what != outcome::trial || here.log.back().subject != 2) here.run();
  seen.clear();
  here.measured(2, trial);
  EXPECT_TRUE(seen.empty()) << "told late";
  here.measured(2, here.log[here.log.size() - 2].number);
  EXPECT_EQ(seen.size(), 1u) << "beside what was undone";
}

// A search may have what was accepted among its candidates.
TEST(groups, count_what_was_measured_beside_a_candidate_that_is_what_was_accepted) {
  std::vector<double> seen;
  a_group here([&](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 1 && now.find(1)->last_trial == 0) out.push_back(trial_of(1, {{0, 2}}));
    if (now.time_s > 2 && now.find(1)->in_force[0] == 2) out.push_back(trial_of(1, {{0, 4}}));
    for (const measurement& each : now.find(2)->measured) seen.push_back(each.value);
  });
  while (here.log.size() < 2) here.run();
  ASSERT_EQ(here.log[1].what, outcome::trial);
  seen.clear();
  here.measured(2, here.log[1].number);
  EXPECT_EQ(seen, std::vector<double>{0.5});
  EXPECT_EQ(here.steering.counts().beside_trials, 0u);
}

}  // namespace
}  // namespace trimtab::steer::testing

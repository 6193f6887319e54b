// The scheduling policy as a knob of runtimes: where it is open it is chosen, where the program has one it is left alone.
#include "scheduler_knob.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "scheduler_places.hpp"
#include "trimtab/runtime/options.hpp"
#include "trimtab/steer/tasks_figures.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab::task_steering {
namespace {

using tasks::policy;

// Of one worker that has all the work, and another.
std::vector<steer::figure> uneven() {
  return {{std::string(steer::figures::idle_share), 0.5},
          {std::string(steer::figures::imbalance), 2},
          {std::string(steer::figures::workers), 2}};
}

class scheduler_knob_test : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* each : {"TRIMTAB_TUNE", "TRIMTAB_SETTINGS", "TRIMTAB_POLICY", "TRIMTAB_TASK_TUNE"}) unsetenv(each);
    std::filesystem::remove(m_file);
  }

  // As `trimtab run --frozen` and --tune hand it over.
  void know(const std::string& mode, const std::string& scheduler, std::uint32_t workers = 2) {
    std::ofstream(m_file) << steer::to_text(
        {{"tasks/" + std::string(program_invocation_short_name) + "/runtime 1/" + std::to_string(workers) + " workers",
          {{"scheduler", scheduler}}}});
    setenv("TRIMTAB_SETTINGS", m_file.c_str(), 1);
    setenv("TRIMTAB_TUNE", mode.c_str(), 1);
  }

  // The policy of a runtime that a program makes from such arguments.
  static policy started(std::vector<std::string> arguments, const tasks::runtime_options& own_options = {.workers = 2}) {
    std::vector<char*> argv{const_cast<char*>("program")};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(argv.size()) - 1;
    const tasks::runtime rt(options_from(argc, argv.data(), own_options));
    return rt.policy();
  }

  const std::string m_file = ::testing::TempDir() + "/scheduler-settings-" + std::to_string(getpid());
};

TEST_F(scheduler_knob_test, what_earlier_runs_found_is_set_at_the_start) {
  EXPECT_EQ(started({}), policy::local_priority);
  for (const char* const mode : {"frozen", "on", "known"}) {
    know(mode, "abp-priority");
    EXPECT_EQ(started({}), policy::abp_priority) << mode;
    EXPECT_EQ(started({}), policy::abp_priority) << "the next one in its place, " << mode;
    EXPECT_EQ(started({}, {.workers = 3}), policy::local_priority) << "it was found with two workers";
  }
  setenv("TRIMTAB_TUNE", "shuffle", 1);
  EXPECT_EQ(started({}), policy::local_priority);
}

TEST_F(scheduler_knob_test, only_a_frozen_run_searches_nothing_where_the_program_asks_for_it) {
  for (const std::string mode : {"off", "on", "frozen", "known", "shuffle", "no such mode"}) {
    know(mode, "abp-priority");
    EXPECT_EQ(settings_of_earlier_runs().is_frozen, mode == "frozen") << mode;
    EXPECT_EQ(uses_settings_of_run(), mode == "on" || mode == "frozen" || mode == "known") << mode;
  }
}

TEST_F(scheduler_knob_test, a_policy_of_the_program_or_its_user_is_left) {
  know("frozen", "abp-priority", 4);
  const tasks::runtime_options open{.workers = 4};
  EXPECT_EQ(started({}, open), policy::abp_priority);
  EXPECT_EQ(started({}, {.workers = 4, .policy = policy::hierarchy}), policy::hierarchy);
  EXPECT_EQ(started({"--trimtab:policy=local"}, open), policy::local);
  EXPECT_EQ(started({"--trimtab:tune=scheduler"}, {.workers = 4, .policy = policy::hierarchy}), policy::hierarchy);
  EXPECT_EQ(started({"--trimtab:tune="}, open), policy::local_priority) << "nothing is to be tuned";
  setenv("TRIMTAB_POLICY", "static-priority", 1);
  EXPECT_EQ(started({}, open), policy::static_priority);
  unsetenv("TRIMTAB_POLICY");
  // Set after the options were read.
  char* argv[] = {const_cast<char*>("program"), nullptr};
  int argc = 1;
  tasks::runtime_options late = options_from(argc, argv, open);
  late.policy = policy::periodic_priority;
  EXPECT_EQ(tasks::runtime(late).policy(), policy::periodic_priority);
}

TEST_F(scheduler_knob_test, the_users_policy_is_the_first_where_the_scheduler_is_tuned) {
  EXPECT_EQ(started({"--trimtab:tune=scheduler", "--trimtab:policy=static-priority"}, {.workers = 6}),
            policy::static_priority);
  know("frozen", "local", 5);
  const tasks::runtime_options open{.workers = 5};
  EXPECT_EQ(started({"--trimtab:tune=scheduler", "--trimtab:policy=static-priority"}, open), policy::local);
}

TEST_F(scheduler_knob_test, what_makes_no_difference_is_not_offered) {
  using names = std::vector<std::string>;
  EXPECT_EQ(offered_policies(1, policy::local_priority), (names{"local-priority", "abp-priority"}));
  EXPECT_EQ(offered_policies(1, policy::hierarchy), (names{"local-priority", "abp-priority", "hierarchy"}));
  const names of_two = offered_policies(2, policy::local_priority);
  EXPECT_EQ(std::count(of_two.begin(), of_two.end(), "hierarchy"), 0);
  EXPECT_EQ(of_two.size(), 5u);
  EXPECT_EQ(offered_policies(3, policy::local_priority).size(), 6u);
  // And what a history says of it is not taken.
  know("frozen", "hierarchy", 1);
  EXPECT_EQ(started({}, {.workers = 1}), policy::local_priority);
}

TEST_F(scheduler_knob_test, runtimes_that_live_at_the_same_time_have_a_place_each) {
  std::vector<std::string> names;
  tuning_options options{.scheduler = true};
  const auto opts = [&] { return tuned(tasks::runtime_options{.workers = 2}, options); };
  EXPECT_EQ(tuned(tasks::runtime_options{.workers = 2}, {}).choose_policy, nullptr);
  know("on", "abp-priority");
  {
    const tasks::runtime first(opts()), second(opts());
    EXPECT_EQ(first.policy(), policy::abp_priority);
    EXPECT_EQ(second.policy(), policy::local_priority) << "nothing is known of runtime 2";
  }
  const tasks::runtime next(opts());
  EXPECT_EQ(next.policy(), policy::abp_priority);
  // One that came to nothing holds no place.
  tasks::runtime_options bad = opts();
  bad.companion = [](tasks::runtime&) -> std::shared_ptr<void> { throw std::runtime_error("no"); };
  for (int i = 0; i < 3; ++i) EXPECT_THROW(tasks::runtime{bad}, std::runtime_error);
  std::thread([&] { EXPECT_EQ(tasks::runtime(opts()).policy(), policy::local_priority); }).join();
}

// So long as the same work takes under each policy, as told, not as measured.
TEST_F(scheduler_knob_test, lives_that_follow_one_another_prove_a_policy) {
  std::vector<steer::decision> decisions;
  scheduler_request request{.first = policy::static_priority, .is_searched = true};
  request.told = [&](const steer::decision& decision, const steer::subject_info&, bool is_applied) {
    EXPECT_TRUE(is_applied);
    decisions.push_back(decision);
  };
  scheduler_knob knob(1, 2, request, {});
  knob.begun(0);
  // Of two works, now more of the one and now of the other: what counts is how fast each was.
  for (int i = 0; i < 400; ++i) {
    const double slow = knob.in_force() == policy::static_priority ? 2 : 1, extra = i % 3;
    // Long enough for a budget that goes by the clock: a life tells of microseconds of work.
    knob.ended(knob.under(), {uneven(), {{"a", 1e-3 * slow, 1}, {"b", extra * 2e-3 * slow, extra}}});
    std::this_thread::yield();
    if (!decisions.empty() && decisions.back().what == steer::outcome::kept) break;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
    while (std::chrono::steady_clock::now() < until) {
    }
  }
  ASSERT_FALSE(decisions.empty());
  EXPECT_EQ(decisions.back().what, steer::outcome::kept);
  EXPECT_NEAR(decisions.back().gain.gain, 0.5, 1e-6);
  EXPECT_EQ(knob.in_force(), policy::local_priority);
}

TEST_F(scheduler_knob_test, without_search_or_work_nothing_is_tried) {
  std::size_t decision_count = 0;
  scheduler_request request{.first = policy::static_priority};
  request.told = [&](const steer::decision&, const steer::subject_info&, bool) { ++decision_count; };
  scheduler_knob known_only(1, 2, request, {});
  request.is_searched = true;
  scheduler_knob frozen(1, 2, request, {.settings = {}, .is_frozen = true, .error = {}, .policy_file = {}}),
      idle(1, 2, request, {});
  for (scheduler_knob* const each : {&known_only, &frozen, &idle}) each->begun(0);
  for (int i = 0; i < 50; ++i) {
    known_only.ended(known_only.under(), {uneven(), {{"a", 0.01, 1}}});
    frozen.ended(frozen.under(), {uneven(), {{"a", 0.01, 1}}});
    idle.ended(idle.under(), {uneven(), {}});
  }
  EXPECT_EQ(decision_count, 0u);
}

// A program that makes runtimes one after the other. Given to workers in turn, every other task is all the work; its units
// say that anything is better than static-priority.
TEST_F(scheduler_knob_test, a_program_that_makes_runtimes_is_served) {
  tuning_options options{.scheduler = true, .first_scheduler = policy::static_priority};
  std::vector<steer::outcome> outcomes;
  options.told = [&](const steer::decision& decision, const steer::subject_info& subject, bool) {
    if (subject.knobs[0].name == "scheduler") outcomes.push_back(decision.what);
  };
  const auto is_kept = [&] { return std::count(outcomes.begin(), outcomes.end(), steer::outcome::kept) != 0; };
  policy latest = policy::static_priority;
  for (int i = 0; i < 400 && !is_kept(); ++i) {
    tasks::runtime rt(tuned(tasks::runtime_options{.workers = 2}, options));
    latest = rt.policy();
    tuned_steps steps(rt, "step");
    for (int step = 0; step < 8; ++step) {
      steps.begin();
      rt.run([] {});
      rt.run([] {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        while (std::chrono::steady_clock::now() < until) {
        }
      });
      steps.end(latest == policy::static_priority ? 1 : 1000);
    }
  }
  EXPECT_TRUE(is_kept());
  EXPECT_EQ(tasks::runtime(tuned(tasks::runtime_options{.workers = 2}, options)).policy(), policy::local_priority);
}

}  // namespace
}  // namespace trimtab::task_steering

// What a run has written down is enough to build its engine again: policies outside the process included, which are not
// asked.
#include "replayed.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "policies.hpp"
#include "trimtab/steer/conductor.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::session {
namespace {

using namespace steer;

steering_options tuned(steer_policy policy = steer_policy::tuner) {
  steering_options chosen;
  chosen.how = tuning_mode::on;
  chosen.policy = policy;
  chosen.policy_file = "/somewhere/mine.py";
  return chosen;
}

std::vector<std::string> kinds_of(const steering_options& chosen) {
  std::vector<std::string> kinds;
  for (const policy_description& policy : engine_of(chosen, {}).policies) kinds.push_back(policy.kind);
  return kinds;
}

TEST(engines, are_built_of_what_the_options_ask_for) {
  using kinds = std::vector<std::string>;
  EXPECT_EQ(kinds_of(tuned()), (kinds{"by-hand", "history", "placement", "tuner", "wait-policy", "memory"}));
  EXPECT_EQ(kinds_of(tuned(steer_policy::arcs_offline)), (kinds{"by-hand", "history", "arcs-offline"}));
  EXPECT_EQ(kinds_of(tuned(steer_policy::outside)), (kinds{"by-hand", "history", "outside"}));
  steering_options fitted = tuned();
  fitted.threads = thread_policy::fit;
  fitted.thread_tunables = "calm_s=2";
  EXPECT_EQ(kinds_of(fitted), (kinds{"by-hand", "history", "fit", "placement", "tuner", "wait-policy", "memory"}));
  EXPECT_EQ(engine_of(fitted, {}).policies[2].find("tunables"), "calm_s=2");
  fitted.how = tuning_mode::off;
  EXPECT_EQ(kinds_of(fitted), (kinds{"by-hand", "history", "fit"}));
  fitted.how = tuning_mode::shuffle;
  EXPECT_EQ(kinds_of(fitted), (kinds{"by-hand", "history", "shuffle"})) << "shuffled threads are nobody else's";
  fitted.how = tuning_mode::frozen;
  fitted.threads = thread_policy::regions;
  EXPECT_EQ(kinds_of(fitted), (kinds{"by-hand", "history", "placement"}));
  EXPECT_EQ(engine_of(tuned(), {}).budget_share, 0.03);
}

// A policy outside, played by what it answers at each exchange.
struct outside_run {
  std::string go(std::function<bool(std::string&)> answer, int steps) {
    const recording_head head = engine_of(tuned(steer_policy::outside), {});
    engine steering(options_of(head));
    outside_policy* asked_policy = nullptr;
    for (const policy_description& policy : head.policies) {
      made_policy fresh =
          make_policy(policy, {{}, [](const subject_info&) { return ""; }, {}}, {[](const auto&) {}, answer});
      if (policy.kind == outside_kind) asked_policy = dynamic_cast<outside_policy*>(fresh.made.get());
      steering.add(std::move(fresh.made));
    }
    std::string text;
    recording_writer writer(head, {[&](std::string_view text_more) {
                                     text += text_more;
                                     return 0;
                                   },
                                   {}});
    board knobs;
    const subject_info loop{7, "loop", {{"chunk", *domain::powers_of_two(1, 64), 8, 0, consent::safe, 0, {}}}};
    knobs.add(loop, [](std::uint32_t, knob_value to) { return to != 16; });
    conductor steers(
        steering, knobs, [] { return 0.0; },
        [&](const decision& decision_made, bool is_applied) {
          if (!is_applied) writer.unapplied(decision_made.number);
        },
        [&](const snapshot& latest_snapshot, decision_number decided) {
          if (auto taken_answer = asked_policy->take_answered()) writer.answered(*taken_answer);
          if (auto fault = asked_policy->take_fault()) writer.failed(*fault);
          for (const subject_info& subject : latest_snapshot.appeared) writer.about({subject.id, "", 70});
          writer.step(latest_snapshot, decided);
        });
    for (int i = 0; i < steps; ++i) {
      snapshot now;
      now.time_s = 0.1 * i;
      now.is_last = i + 1 == steps;
      if (i == 0) now.appeared = {loop};
      now.subjects = {{7, {{0, 0.1, 0.1}}, {}}};
      steers.advance(now);
    }
    reports = steering.reports();
    return text;
  }
  std::vector<policy_report> reports;
};

std::size_t count_of(std::string_view word, std::string_view in) {
  std::size_t count = 0;
  for (std::size_t at = in.find(word); at != in.npos; at = in.find(word, at + 1)) count += 1;
  return count;
}

TEST(replayed, policies_outside_are_not_asked_again) {
  int question_count = 0;
  const std::string text = outside_run().go(
      [&](std::string& answer) {
        question_count += 1;
        answer = "trimtab-proposals 1 " + std::to_string(question_count) + "\nset 7 by%20me chunk%3D" +
                 (question_count == 3 ? "16" : "64") + "\n" + "set 7 and%20back chunk%3D2\n";
        return question_count % 2 == 1;  // an answer to a snapshot long ago, otherwise
      },
      8);
  const replayed repeated = replay(text);
  EXPECT_EQ(repeated.error, "");
  EXPECT_TRUE(repeated.is_same) << repeated.lines;
  EXPECT_NE(
      repeated.lines.find(R"("number":1,"time_s":0.10000000000000001,"subject":70,"is_applied":true,"policy":"mine.py",)"
                          R"("changes":[{"knob":"chunk","from":8,"to":64}],"outcome":4,)"),
      std::string::npos)
      << repeated.lines;
  EXPECT_NE(repeated.lines.find(R"("reason":"by me","evidence":""})"), std::string::npos);
  EXPECT_NE(repeated.lines.find(R"("is_whole":true,"recorded_until":)"), std::string::npos);
  EXPECT_NE(repeated.lines.find(R"("difference":null})"), std::string::npos);
}

TEST(replayed, knobs_that_could_not_be_turned_are_told) {
  const std::string text = outside_run().go(
      [](std::string& answer) {
        answer = "trimtab-proposals 1 1\nset 7 x chunk%3D16\n";
        return true;
      },
      5);
  const replayed repeated = replay(text);
  EXPECT_TRUE(repeated.is_same) << repeated.lines << repeated.error;
  EXPECT_EQ(count_of(R"("is_applied":false)", repeated.lines), 1u) << repeated.lines;
}

TEST(replayed, policies_outside_fail_where_they_failed) {
  for (const bool is_nonsense : {false, true}) {
    outside_run run;
    const std::string text = run.go(
        [&](std::string& answer) -> bool {
          if (!is_nonsense) throw std::runtime_error("answered with more than a million bytes");
          answer = "trimtab-proposals 1 1\ntrial 7 x chunk%3D64\nfailed no%20idea\n";
          return true;
        },
        5);
    ASSERT_FALSE(run.reports.back().is_enabled);
    const replayed repeated = replay(text);
    EXPECT_TRUE(repeated.is_same) << repeated.lines << repeated.error;
    EXPECT_EQ(count_of("\n", repeated.lines), 1u) << "no decision: " << repeated.lines;
  }
}

TEST(replayed, what_was_decided_otherwise_is_shown) {
  std::string text = outside_run().go(
      [](std::string& answer) {
        answer = "trimtab-proposals 1 1\nset 7 x chunk%3D64\n";
        return true;
      },
      5);
  ASSERT_TRUE(replay(text).is_same);
  const std::size_t at = text.find("decided 1\n");
  ASSERT_NE(at, std::string::npos);
  text[at + 8] = '2';
  const replayed repeated = replay(text);
  EXPECT_FALSE(repeated.is_same);
  EXPECT_NE(repeated.lines.find(R"("difference":{"snapshot":2,"time_s":0.10000000000000001,"recorded":2,"found":1}})"),
            std::string::npos)
      << repeated.lines;
}

TEST(replayed, what_is_missing_is_named) {
  const std::string head = "trimtab-snapshots 1\nengine 0x1p-5 0x0p+0 0x1p-2 safe\n", step = "time 0x1p+0\nend\n";
  EXPECT_EQ(replay(head).error, "expected snapshots, found none that is whole: nothing was told yet");
  EXPECT_EQ(replay(head + "policy arc\n" + step).error, "policy arc: there is none");
  EXPECT_EQ(replay(head + "policy of-the-program\n" + step).error,
            "policy of-the-program: there is none here: it is the program's own, and replayed by it");
  EXPECT_EQ(replay(head + "policy history\n" + step).error, "");
  EXPECT_NE(replay(head + "what\n" + step).error.find("line 3: expected "), std::string::npos);
}

}  // namespace
}  // namespace trimtab::session

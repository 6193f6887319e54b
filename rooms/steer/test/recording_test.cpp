// Recordings read back, whatever cut them off; damage is told; what has no room ends one, and nothing else.
#include "trimtab/steer/recording.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "trimtab/steer/log.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::steer::testing {
namespace {

recording_head head_of_all() {
  recording_head head{1.0 / 3, 0.5, -0.0, true, 3, {{"tuner", {{"seed", "1"}, {"a b", "x=y"}}}, {"history"}}, {}};
  head.settings = {{"app/0x12 34", {{"schedule", "dynamic"}, {"chunk", ""}}}};
  return head;
}

recorded_step step_of_all(double time_s) {
  recorded_step step;
  step.told.time_s = time_s;
  step.told.overdue = {"the slow one"};
  step.about = {{7, "a key", 12}, {8, "", 0}};
  step.answer = "trimtab-proposals 1 1\nset 7 x";
  step.fault = "";
  step.decided = 5;
  return step;
}

struct written {
  explicit written(std::uint64_t largest = recording_writer::usual_most_bytes)
      : writer(head_of_all(),
               {[this](std::string_view text_more) {
                  appended += 1;
                  if (error == 0) text += text_more;
                  return error;
                },
                [this](const std::string& failure_reason) { why.push_back(failure_reason); }},
               largest) {}
  void put(const recorded_step& step) {
    for (const recorded_subject& subject : step.about) writer.about(subject);
    if (step.answer) writer.answered(*step.answer);
    if (step.fault) writer.failed(*step.fault);
    writer.step(step.told, step.decided);
  }
  std::string text;
  int appended = 0, error = 0;
  std::vector<std::string> why;
  recording_writer writer;
};

TEST(recording, reads_back) {
  written written_run;
  written_run.put(step_of_all(1));
  recorded_step quiet;
  quiet.told.time_s = 2;
  quiet.decided = 5;
  written_run.put(quiet);
  written_run.writer.unapplied(4);
  written_run.writer.unapplied(5);
  written_run.put(step_of_all(3));
  EXPECT_EQ(written_run.appended, 5) << "each step as a whole";
  const recording read = recording_from_text(written_run.text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.head, head_of_all());
  quiet.unapplied = {4, 5};
  EXPECT_EQ(read.steps, (std::vector<recorded_step>{step_of_all(1), quiet, step_of_all(3)}));
}

TEST(recording, leaves_out_what_was_cut_off_anywhere) {
  written written_run;
  written_run.put(step_of_all(1));
  const std::size_t first = written_run.text.size();
  written_run.put(step_of_all(2));
  for (std::size_t size = log_head.size(); size < written_run.text.size(); ++size) {
    const recording read = recording_from_text(std::string_view(written_run.text).substr(0, size));
    EXPECT_EQ(read.error, "") << size;
    EXPECT_EQ(read.steps, std::vector<recorded_step>(size >= first ? 1 : 0, step_of_all(1))) << size;
  }
}

TEST(recording, says_what_is_wrong_and_where) {
  EXPECT_NE(recording_from_text("trimtab-proposals 1\n").error.find("line 1: expected 'trimtab-snapshots 1'"),
            std::string::npos);
  const std::string head = std::string(log_head) + "engine 0x1p-5 0x0p+0 0x1p-2 safe\n";
  EXPECT_EQ(recording_from_text(head).error, "");
  EXPECT_EQ(recording_from_text(std::string(log_head) + "time 0x1p+0\nend\n").error,
            "line 2: expected 'engine' and what it is built with, found 'time 0x1p+0'");
  for (const char* wrong :
       {"engine 0x1p-5 0x0p+0 0x1p-2 safe", "runtime", "policy", "policy tuner seed", "policy tuner %", "setting key",
        "about 1 key", "about x key 1", "answer a b", "decided x", "unapplied 1", "nonsense", "gone 1", "time x"}) {
    const recording read = recording_from_text(head + wrong + "\n");
    EXPECT_EQ(read.error.rfind("line 3: expected ", 0), 0u) << wrong << ": " << read.error;
  }
  EXPECT_NE(recording_from_text(head + "time 0x1p+0\nend\npolicy tuner\n").error.find("line 5: "), std::string::npos)
      << "the head comes first";
}

TEST(recording, takes_damage) {
  written written_run;
  written_run.put(step_of_all(1));
  random_source lots(3);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = written_run.text;
    for (int n = 0; n < 3; ++n) damaged[lots.below(damaged.size())] = static_cast<char>(lots.next());
    EXPECT_LE(recording_from_text(damaged).steps.size(), 1u);
  }
}

TEST(recording, ends_where_there_is_no_room) {
  written written_run;
  written_run.put(step_of_all(1));
  written_run.error = ENOSPC;
  for (int i = 0; i < 3; ++i) written_run.put(step_of_all(2));
  written_run.writer.unapplied(5);
  EXPECT_TRUE(written_run.writer.is_over());
  EXPECT_EQ(written_run.appended, 2) << "nothing more is tried";
  ASSERT_EQ(written_run.why.size(), 1u) << "told once";
  EXPECT_EQ(written_run.why[0], "No space left on device");
  EXPECT_EQ(recording_from_text(written_run.text).steps.size(), 1u);
}

TEST(recording, is_bounded) {
  written written_run(2000);
  for (int i = 0; i < 100; ++i) written_run.put(step_of_all(i));
  EXPECT_LE(written_run.text.size(), 2000u);
  EXPECT_EQ(written_run.why, std::vector<std::string>{"it has reached the most that it may take"});
  const recording read = recording_from_text(written_run.text);
  EXPECT_EQ(read.error, "");
  EXPECT_GT(read.steps.size(), 3u);
}

TEST(policy_factory, what_is_no_policy_is_told) {
  EXPECT_EQ(make_policy({"tunner"}, {}).mistake, "policy tunner: there is none");
  EXPECT_EQ(make_policy({"tuner", {{"search", "wild"}}}, {}).mistake, "policy tuner, search=wild: there is no such search");
  EXPECT_EQ(make_policy({"shuffle", {{"seed", "-1"}}}, {}).mistake, "policy shuffle, seed=-1: expected a whole number");
  EXPECT_EQ(make_policy({"power-limit", {{"watts", "many"}}}, {}).mistake, "policy power-limit, watts: expected a number");
  const made_policy policy_without = make_policy({"fit", {{"tunables", "calm_s=1,x=2"}}}, {});
  EXPECT_NE(policy_without.made, nullptr);
  EXPECT_EQ(policy_without.mistake.rfind("'x=2': expected NAME=NUMBER", 0), 0u) << policy_without.mistake;
}

}  // namespace
}  // namespace trimtab::steer::testing

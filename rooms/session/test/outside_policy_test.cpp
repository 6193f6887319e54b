// A policy in another process, played by the test: files in a folder.
#include "trimtab/steer/outside_policy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "scratch_folder.hpp"
#include "trimtab/observe/policy_files.hpp"

namespace trimtab::session {
namespace {

using namespace steer;

outside_exchange files_in(const std::string& folder) {
  const observe::policy_files files(folder, "");
  return {[files](const std::string& snapshot) { files.put_snapshot(snapshot); },
          [files](std::string& into) { return files.take_answer(into); }};
}

class outside : public ::testing::Test {
 protected:
  void SetUp() override {
    rule = std::make_unique<outside_policy>("mine.py", files_in(folder),
                                            [](const subject_info& subject) { return subject.name + "!"; });
  }

  std::vector<proposal> look(double time_s, std::vector<measurement> measured = {}, bool is_last = false,
                             std::vector<event> happened = {}) {
    view now;
    now.events = happened;
    now.time_s = time_s;
    now.is_last = is_last;
    const subject_view subject{info, values, values, 3, 0, measured, {}, false, true};
    now.subjects = {&subject, 1};
    std::vector<proposal> out;
    rule->observe(now, out);
    return out;
  }
  std::string snapshot() const {
    std::ostringstream text;
    text << std::ifstream(folder + "/policy-snapshot.json").rdbuf();
    return text.str();
  }
  void answer(const std::string& text) { scratch.put("/policy-answer.txt", text); }
  std::string error_of(const std::string& lines) {
    rule = std::make_unique<outside_policy>("mine.py", files_in(folder), [](const subject_info&) { return ""; });
    look(0);
    answer("trimtab-proposals 1 1\n" + lines);
    try {
      look(0.1);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  scratch_folder scratch;
  const std::string& folder = scratch.path();
  std::unique_ptr<outside_policy> rule;
  std::vector<knob_value> values{0, 8};
  subject_info info{7,
                    "a \"quoted\"\nname",
                    {{"schedule", *domain::categories({"as-written", "fac2"}), 0, 0, consent::safe, 0, {}},
                     {"chunk", *domain::powers_of_two(1, 64), 8, 0, consent::needed, 0, {}}}};
};

TEST_F(outside, is_shown_all_that_a_policy_sees) {
  look(0.5, {{3, 0.25, 1}});
  EXPECT_EQ(snapshot(),
            R"({"format":1,"number":1,"time_s":0.5,"is_last":false,"budget_left_s":0,"has_consent":false,"figures":{},)"
            R"("events":[],"subjects":[{"id":7,"name":"a \"quoted\"\u000aname","key":"a \"quoted\"\u000aname!","since":3,)"
            R"("is_others":false,"has_level":true,"figures":{},"knobs":[)"
            R"({"name":"schedule","is_ordered":false,"needs_consent":false,"initial":"as-written","in_force":"as-written",)"
            R"("accepted":"as-written","values":["as-written","fac2"]},)"
            R"({"name":"chunk","is_ordered":true,"needs_consent":true,"initial":"8","in_force":"8","accepted":"8",)"
            R"("values":["1","2","4","8","16","32","64"]}],"measured":[[3,0.25,1]]}]})"
            "\n");
}

TEST_F(outside, proposes_in_the_place_of_a_policy_here) {
  look(0);
  EXPECT_TRUE(look(0.02).empty()) << "no answer yet";
  answer("trimtab-proposals 1 1\ntrial 7 why%20not schedule%3Dfac2 chunk%3D16\nkept 7 -\nset 99 gone x%3Dy\n");
  const std::vector<proposal> proposals = look(0.04);
  ASSERT_EQ(proposals.size(), 3u);
  EXPECT_EQ(proposals[0].what, outcome::trial);
  EXPECT_EQ(proposals[0].reason, "why not");
  ASSERT_EQ(proposals[0].changes.size(), 2u);
  EXPECT_EQ(proposals[0].changes[0].to, 1);
  EXPECT_EQ(proposals[0].changes[1].to, 16);
  EXPECT_EQ(proposals[1].what, outcome::kept);
  EXPECT_EQ(proposals[2].subject, 99u) << "whether there was one the engine knows";
  EXPECT_TRUE(look(0.06).empty()) << "an answer is taken once";
}

TEST_F(outside, the_next_snapshot_waits_for_the_answer_and_loses_nothing) {
  look(0, {{3, 1, 1}});
  look(0.2, {{3, 2, 1}});
  EXPECT_NE(snapshot().find("\"number\":1,"), std::string::npos);
  answer("trimtab-proposals 1 1\n");
  look(0.22, {{3, 4, 1}});
  EXPECT_NE(snapshot().find("\"number\":2,"), std::string::npos);
  EXPECT_NE(snapshot().find("\"measured\":[[3,2,1],[3,4,1]]"), std::string::npos) << snapshot();
  look(0.24);
  EXPECT_NE(snapshot().find("\"number\":2,"), std::string::npos) << "an answer to the first is none to the second";
  answer("trimtab-proposals 1 2\n");
  look(0.26);
  EXPECT_NE(snapshot().find("\"number\":2,"), std::string::npos) << "not yet";
  look(0.33);
  EXPECT_NE(snapshot().find("\"number\":3,"), std::string::npos);
}

TEST_F(outside, is_asked_when_it_has_asked_to_be) {
  const auto number = [&] { return std::atoi(snapshot().c_str() + snapshot().find("\"number\":") + 9); };
  look(0);
  answer("trimtab-proposals 1 1\nwhen 0.5 bell\n");
  look(0.1);
  look(0.4);
  EXPECT_EQ(number(), 1) << "not yet";
  look(0.42, {}, false, {{"whistle", 0, 0}});
  EXPECT_EQ(number(), 1) << "nothing that it has asked for";
  look(0.44, {}, false, {{"bell", 7, 2}});
  EXPECT_EQ(number(), 2);
  EXPECT_NE(snapshot().find(R"("events":[{"name":"whistle","subject":0,"value":0},{"name":"bell","subject":7,"value":2}],)"),
            std::string::npos)
      << snapshot();
  look(0.45, {}, false, {{"bell", 8, 0}});
  answer("trimtab-proposals 1 2\nwhen - bell\n");
  look(0.46);
  EXPECT_EQ(number(), 3) << "what happened while it was thinking is told";
  answer("trimtab-proposals 1 3\n");
  look(0.5);
  look(1000);
  EXPECT_EQ(number(), 3) << "only with its events";
  look(1001, {}, true);
  EXPECT_EQ(number(), 4) << "but for the last";
}

TEST_F(outside, who_does_not_answer_in_time_fails) {
  look(0);
  look(29);
  EXPECT_THROW(look(31), std::runtime_error) << "the first answer";
  rule = std::make_unique<outside_policy>("mine.py", files_in(folder), [](const subject_info&) { return ""; });
  look(0);
  answer("trimtab-proposals 1 1\n");
  look(1);
  look(5.9);
  EXPECT_THROW(look(6.1), std::runtime_error);
}

TEST_F(outside, nonsense_is_named) {
  const std::pair<const char*, const char*> wrong[] = {
      {"trial 7 x schedule%3Dbest\n", "schedule=best for a \"quoted\"\nname, which is outside its domain"},
      {"trial 7 x chunk%3D3\n", "outside its domain"},
      {"trial 7 x colour%3Dred\n", "no such knob"},
      {"trial 7 x schedule\n", "no such knob"},
      {"try 7 x\n", "proposed 'try', expected trial, kept, undone or set"},
      {"trial seven x\n", "'seven' in the place of a subject's number"},
      {"trial\n", "no line of words"},
      {"trial 7 %zz\n", "no line of words"},
      {"failed it%20broke\n", "it broke"},
      {"when often\n", "'often' in the place of seconds between two calls"},
      {"when 0.001\n", "asked to be called every 0.001 s, expected 0.02 to 3600"},
      {"when nan\n", "every nan s"},
      {"when -\n", "at no time and with no event"},
  };
  for (const auto& [lines, expected] : wrong) EXPECT_NE(error_of(lines).find(expected), std::string::npos) << lines;
  std::string long_text;
  for (int i = 0; i < 1001; ++i) long_text += "kept 7 -\n";
  EXPECT_NE(error_of(long_text).find("more than 1000"), std::string::npos);
  answer("hello");
  EXPECT_THROW(look(0.2), std::runtime_error);
}

TEST_F(outside, at_the_end_nobody_waits) {
  look(0);
  EXPECT_TRUE(look(100, {}, true).empty());
  EXPECT_NE(snapshot().find("\"is_last\":true"), std::string::npos);
}

TEST_F(outside, a_folder_that_is_gone_is_a_failure) {
  std::filesystem::remove_all(folder);
  EXPECT_THROW(look(0), std::runtime_error);
}

}  // namespace
}  // namespace trimtab::session

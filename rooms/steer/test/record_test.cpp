#include "trimtab/steer/record.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include "scenario.hpp"
#include "scratch_folder.hpp"

namespace trimtab::steer::testing {
namespace {

// A recorder of its own in a directory of its own.
class recorded {
 public:
  recorded() {
    observe::recorder_options options;
    options.run_directory = m_folder.path().c_str();
    EXPECT_EQ(into->open(options), 0);
  }
  std::string file(const char* name) const {
    std::ifstream in(std::string(into->directory()) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<observe::decision> decisions() const {
    const std::string bytes = file("decisions.tt");
    observe::file_header head{};
    if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
    std::vector<observe::decision> all(head.written);
    if (!all.empty()) std::memcpy(all.data(), bytes.data() + observe::header_bytes, all.size() * sizeof(observe::decision));
    return all;
  }
  std::unique_ptr<observe::recorder> into = std::make_unique<observe::recorder>();

 private:
  scratch_folder m_folder;
};

const subject_info a_loop{5, "loop", {numbers("threads", 1, 4, 4), kinds("schedule", {"static", "dynamic"})}};

decision kept() {
  decision decision_made;
  decision_made.number = 9;
  decision_made.subject = 5;
  decision_made.what = outcome::kept;
  decision_made.changes = {{0, 4, 3}, {1, 0, 1}};
  decision_made.policy = "tuner";
  decision_made.reason = "run delay";
  decision_made.evidence = {{"run_delay_share", 0.31}, {"imbalance", 1.5}};
  decision_made.gain = {0.22, 0.03, 9};
  return decision_made;
}

TEST(record, writes_a_record_for_each_change) {
  recorded run;
  decision_record to(*run.into);
  to.add(a_loop, "app+0x40");
  to.add(a_loop, "app+0x40");
  to.write(kept(), 7000);
  const auto all = run.decisions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].number, 9u);
  EXPECT_EQ(all[1].number, 9u);
  EXPECT_NE(all[0].knob, all[1].knob);
  EXPECT_EQ(all[1].from, 0);
  EXPECT_EQ(all[1].to, 1);
  EXPECT_EQ(all[0].ticks, 7000u);
  EXPECT_EQ(all[0].outcome, observe::decision_outcome::kept);
  EXPECT_EQ(all[0].policy, 1u);
  EXPECT_STREQ(all[0].text, "run delay");
  EXPECT_STREQ(all[0].text + 10, "run_delay_share=0.31 imbalance=1.5");
  EXPECT_NE(run.file("names.tt").find("static,dynamic"), std::string::npos);
}

TEST(record, cuts_long_texts_between_letters) {
  recorded run;
  decision_record to(*run.into);
  to.add(a_loop, "app+0x40");
  decision decision_made = kept();
  for (std::size_t length = 180; length < 200; ++length) {
    decision_made.reason = std::string(length, 'x') + "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
    to.write(decision_made, 1);
  }
  for (const observe::decision& decision : run.decisions()) {
    const std::string reason(decision.text, strnlen(decision.text, sizeof decision.text));
    ASSERT_LT(reason.size(), sizeof decision.text);
    EXPECT_EQ(decision.text[sizeof decision.text - 1], '\0');
    EXPECT_NE(reason.back(), '\xc3') << "half a letter";
  }
}

TEST(record, tells_what_was_disabled_once_and_what_it_cost) {
  recorded run;
  decision_record to(*run.into);
  engine steering;
  steering.add(std::make_unique<scripted>([](const view&, auto&) { throw std::runtime_error("out of ideas"); }));
  steering.step({});
  to.write(steering);
  to.write(steering);
  const std::string names = run.file("names.tt");
  const std::size_t first = names.find("it threw: out of ideas");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(names.find("it threw: out of ideas", first + 1), std::string::npos);
  EXPECT_NE(names.find("steering: cost of search, s"), std::string::npos);
}

TEST(record, passes_over_subjects_that_it_does_not_know) {
  recorded run;
  decision_record to(*run.into);
  to.write(kept(), 1);
  EXPECT_TRUE(run.decisions().empty());
}

}  // namespace
}  // namespace trimtab::steer::testing

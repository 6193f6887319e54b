#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

TEST(decisions, come_with_the_names_of_their_knobs_and_policies) {
  scratch_run run;
  open_recorder recorder(run);
  EXPECT_TRUE(bytes_of(recorder.file("decisions.tt")).empty()) << "none without a decision";
  const std::uint32_t chunk = recorder->add_knob(3, "chunk", "app+0x40", "");
  const std::uint32_t kind = recorder->add_knob(3, "schedule", "app+0x40", "static,dynamic");
  EXPECT_NE(chunk, kind);
  const std::uint16_t tuner = recorder->add_policy("tuner");
  EXPECT_NE(tuner, recorder->add_policy("cap"));
  decision made{};
  made.number = 1;
  made.subject = 3;
  made.knob = chunk;
  made.to = 64;
  made.outcome = decision_outcome::trial;
  made.policy = tuner;
  std::memcpy(made.text, "search", 6);
  for (std::uint64_t i = 0; i < 200; ++i) {
    made.ticks = i;
    recorder->decide(made);
  }
  const auto bytes = bytes_of(recorder.file("decisions.tt"));
  EXPECT_EQ(header_of(bytes).kind, file_kind::decisions);
  EXPECT_EQ(header_of(bytes).record_bytes, sizeof(decision));
  const auto records = records_of<decision>(bytes);
  ASSERT_EQ(records.size(), 200u) << "the file has grown";
  EXPECT_EQ(records[199].ticks, 199u);
  EXPECT_EQ(records[199].to, 64);
  EXPECT_STREQ(records[199].text, "search");
  const auto names = bytes_of(recorder.file("names.tt"));
  name_knob first{};
  std::memcpy(&first, names.data() + header_bytes, sizeof first);
  EXPECT_EQ(first.head.tag, name_tag::knob);
  EXPECT_EQ(first.subject, 3u);
  EXPECT_STREQ(names.data() + header_bytes + sizeof first, "chunk");
}

TEST(decisions, are_dropped_where_nothing_is_recorded) {
  const auto closed = std::make_unique<recorder>();
  EXPECT_EQ(closed->add_knob(1, "chunk", "key", ""), 0u);
  EXPECT_EQ(closed->add_policy("tuner"), 0u);
  closed->decide(decision{});
}

}  // namespace
}  // namespace trimtab::observe::testing

#include "trimtab/steer/thread_fitting/tunables.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trimtab::steer {
namespace {

TEST(tunables, are_set_by_their_names) {
  asat_v1_options first;
  EXPECT_EQ(set_tunables("bad_spread=250.5,load_time_s=3,nice=0", first), "");
  EXPECT_EQ(first.bad_spread, 250.5);
  EXPECT_EQ(first.load_time_s, 3);
  EXPECT_EQ(first.nice, 0u);
  asat_v1_timed_options timed;
  EXPECT_EQ(set_tunables("good_trig=3", timed), "");
  EXPECT_EQ(timed.good_trig, 3u);
  asat_v2_reset_options reset;
  EXPECT_EQ(set_tunables("eval_time_s=3,flag=off", reset), "");
  EXPECT_EQ(reset.eval_time_s, 3);
  EXPECT_FALSE(reset.flag);
  EXPECT_EQ(first.bad_trig, asat_v1_options{}.bad_trig);
  asat_v2_options compilers;
  EXPECT_EQ(set_tunables("eval_time_s=1,bad_trig=1,good_trig=10,bad_time_s=2e-3", compilers), "");
  EXPECT_EQ(compilers.eval_time_s, 1);
  EXPECT_EQ(compilers.bad_time_s, 2e-3);
  EXPECT_EQ(compilers.bad_trig, 1u);
  EXPECT_EQ(compilers.good_trig, 10u);
  EXPECT_EQ(compilers.longest_dip_s(), 2e-3);
  EXPECT_EQ(set_tunables("dip_below=eval_time,nice=19", compilers), "");
  EXPECT_EQ(compilers.longest_dip_s(), 1);
  EXPECT_EQ(compilers.nice, 19u);
  EXPECT_EQ(set_tunables("dip_below=bad_time", compilers), "");
  EXPECT_EQ(compilers.longest_dip_s(), 2e-3);
  fit_options own_options;
  EXPECT_EQ(set_tunables("calm_s=0.5,grain.ratio=0.8", own_options), "");
  EXPECT_EQ(own_options.calm_s, 0.5);
  EXPECT_EQ(own_options.grain.ratio, 0.8);
  EXPECT_EQ(set_tunables("", own_options), "");
  EXPECT_TRUE(own_options.flag && first.flag && compilers.flag);
  EXPECT_EQ(set_tunables("flag=off", own_options) + set_tunables("flag=off", first), "");
  EXPECT_EQ(set_tunables("flag=off,bad_trig=1", compilers), "");
  EXPECT_FALSE(own_options.flag || first.flag || compilers.flag);
  EXPECT_EQ(set_tunables("flag=on", own_options), "");
  EXPECT_TRUE(own_options.flag);
}

TEST(tunables, that_cannot_be_set_are_told_and_change_nothing) {
  asat_v2_options options_set;
  for (const char* wrong : {"bad_spread=4", "bad_trig", "bad_trig=", "bad_trig=1.5", "bad_trig=0", "bad_trig=-1",
                            "bad_trig=2x", "bad_time_s=nan", "=3", ",", "bad_trig=1e10", "flag", "flag=0", "flag=offf",
                            "nice=20", "nice=-1", "nice=1.5", "dip_below=1", "dip_below"}) {
    const std::string mistake = set_tunables(wrong, options_set);
    EXPECT_NE(mistake.find("expected"), std::string::npos) << wrong << ": " << mistake;
  }
  EXPECT_EQ(options_set.bad_trig, asat_v2_options{}.bad_trig);
  EXPECT_EQ(options_set.bad_time_s, asat_v2_options{}.bad_time_s);
  EXPECT_NE(set_tunables("good_trig=4,bad_tirg=1", options_set)
                .find("'bad_tirg=1': expected NAME=NUMBER, NAME one of eval_time_s, "),
            std::string::npos);
  EXPECT_EQ(options_set.good_trig, 4u);
}

// A value that each description allows, and one that it does not.
template <class options>
void expect_set_as_described(std::string_view policy) {
  ASSERT_FALSE(tunables_of(policy).empty()) << policy;
  for (const tunable_info& tunable : tunables_of(policy)) {
    const std::string name = std::string(tunable.name) + "=";
    std::vector<std::string> allowed(tunable.words.begin(), tunable.words.end()), refused{"", "x"};
    if (tunable.words.empty()) allowed = {"1", tunable.most == 19 ? "19" : "1e9"};
    if (tunable.words.empty()) (tunable.is_zero_allowed ? allowed : refused).emplace_back("0");
    if (tunable.words.empty()) (tunable.is_whole ? refused : allowed).emplace_back("1.5");
    options options_set;
    for (const std::string& value : allowed) EXPECT_EQ(set_tunables(name + value, options_set), "") << policy;
    for (const std::string& value : refused)
      EXPECT_EQ(set_tunables(name + value, options_set), "'" + name + value + "': expected " + std::string(tunable.expected))
          << policy;
  }
}

TEST(tunables, are_set_as_they_are_described) {
  expect_set_as_described<fit_options>("fit");
  expect_set_as_described<asat_v1_options>("asat-v1");
  expect_set_as_described<asat_v2_options>("asat-v2");
  expect_set_as_described<asat_v1_timed_options>("asat-v1-timed");
  expect_set_as_described<asat_v2_reset_options>("asat-v2-reset");
  EXPECT_TRUE(tunables_of("regions").empty() && tunables_of("off").empty());
}

}  // namespace
}  // namespace trimtab::steer

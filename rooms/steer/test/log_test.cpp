// Text forms read back, damage is told, and a run replayed from its text gives the same decisions.
#include "trimtab/steer/log.hpp"

#include <limits>

#include "../bench/surfaces.hpp"
#include "scenario.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/settings.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::steer::testing {
namespace {

snapshot full() {
  snapshot all;
  all.time_s = 1.32;
  all.appeared = {{7, "mandel.c:48 (a b)", {numbers("threads", 1, 4, 4, 1e-6), kinds("schedule", {"static", "d%"})}},
                  {8, "", {}, 140000000000000}};
  all.appeared[0].knobs[1].asks = consent::needed;
  all.appeared[0].knobs[1].settle = 2;
  all.appeared[0].knobs[1].remedies = {{"imbalance", {1, 0}}, {"too-small", {}}};
  all.gone = {3};
  all.not_applied = {9};
  all.overdue = {"the slow one"};
  all.subjects = {{7, {{1, 0.1, 1.0 / 3}, {2, 5e-324, 1e300, 3}}, {{"imbalance", -0.0}}}, {8, {}, {}}};
  all.figures = {{"idle share", std::numeric_limits<double>::max()}};
  all.events = {{"bell", 7, -1.5}};
  all.is_last = true;
  return all;
}

TEST(log, snapshots_read_back) {
  const std::string text = std::string(log_head) + to_text(full()) + to_text(snapshot{}) + to_text(full());
  const parsed_log read = from_text(text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.snapshots, (std::vector<snapshot>{full(), {}, full()}));
}

TEST(log, leaves_out_what_was_cut_off_anywhere) {
  const std::string text_of_one = std::string(log_head) + to_text(full());
  const std::string text = text_of_one + to_text(full());
  for (std::size_t size = log_head.size(); size < text.size(); ++size) {
    const parsed_log read = from_text(std::string_view(text).substr(0, size));
    EXPECT_EQ(read.error, "") << size;
    EXPECT_EQ(read.snapshots, std::vector<snapshot>(size >= text_of_one.size() ? 1 : 0, full()));
  }
}

TEST(log, says_what_is_wrong_and_where) {
  EXPECT_NE(from_text("trimtab-snapshots 2\n").error.find("line 1: expected 'trimtab-snapshots 1'"), std::string::npos);
  const std::string head(log_head);
  for (const char* wrong :
       {"gone 1", "time x", "time 0x1p+0 first", "time 0x1p+0\nmeasured 1 0x1p+0 0x1p+0",
        "time 0x1p+0\nsubject 1\nmeasured 1 0x1p+0", "time 0x1p+0\nknob a 1 0x0p+0 safe 0 numbers 1",
        "time 0x1p+0\nappeared 1 a\nknob a 1 0x0p+0 safe 0 numbers", "time 0x1p+0\nappeared 1 a%2", "time 0x1p+0\ngone -1",
        "time 0x1p+0\ngone 1 2", "time 0x1p+0\nnonsense", "time 0x1p+0\ntime 0x1p+0", "time 0x1p+0\nend 1"}) {
    const parsed_log read = from_text(head + wrong + "\n");
    EXPECT_NE(read.error.find("line "), std::string::npos) << wrong;
  }
}

// Random bytes in the place of some: never anything but an error or other snapshots.
TEST(log, takes_damage) {
  const std::string text = std::string(log_head) + to_text(full());
  random_source source(11);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = text;
    for (int n = 0; n < 3; ++n) damaged[source.below(damaged.size())] = static_cast<char>(source.next());
    const parsed_log read = from_text(damaged);
    EXPECT_LE(read.snapshots.size(), 1u);
  }
}

TEST(replay, gives_the_same_decisions) {
  for (const search_kind kind : all_searches) {
    engine_options options;
    options.budget_share = 0.1;
    tuner_options tuning;
    tuning.kind = kind;
    scenario simulation(options);
    simulation.steering.add(std::make_unique<tuner>(tuning));
    const surfaces::surface surface = surfaces::all_surfaces().front();
    subject_info info{1, surface.name, surface.knobs};
    info.knobs[1].remedies = {{std::string(causes::imbalance), {1, 2}}};
    random_source source(3);
    simulation.add(info, [&](const auto& values, double) { return surfaces::noisy(surface.seconds(values), 0.05, source); },
                   {{std::string(figures::imbalance), 1.9}});
    simulation.run_until(30);
    ASSERT_FALSE(simulation.log.empty());

    std::string text(log_head);
    for (const snapshot& snapshot_seen : simulation.seen) text += to_text(snapshot_seen);
    const parsed_log read = from_text(text);
    ASSERT_EQ(read.error, "");
    engine repeated(options);
    repeated.add(std::make_unique<tuner>(tuning));
    std::vector<decision> decisions;
    for (const snapshot& snapshot_seen : read.snapshots)
      for (const decision& decision_made : repeated.step(snapshot_seen)) decisions.push_back(decision_made);
    EXPECT_EQ(decisions, simulation.log) << name_of(kind);
  }
}

TEST(replay, knows_which_policies_were_slow) {
  const auto script = [](const view& now, std::vector<proposal>& out) {
    if (now.time_s > 0.2) out.push_back(trial_of(1, {{0, 2}}));
  };
  double clock = 0;
  engine_options options;
  options.clock = [&] { return clock += clock > 30 ? 1.0 : 0.09; };
  scenario simulation(options);
  simulation.steering.add(std::make_unique<scripted>(script));
  simulation.add({1, "loop", {numbers("threads", 1, 4, 4)}}, [](const auto&, double) { return 0.01; });
  std::vector<snapshot> snapshots_reported;
  for (int i = 0; i < 400; ++i) {
    simulation.run(i == 399);
    snapshots_reported.push_back(simulation.seen.back());
    snapshots_reported.back().overdue = simulation.steering.slow_ones();
  }
  EXPECT_FALSE(simulation.steering.reports().front().is_enabled);
  engine repeated;
  repeated.add(std::make_unique<scripted>(script));
  std::vector<decision> decisions;
  for (const snapshot& snapshot_seen : snapshots_reported)
    for (const decision& decision_made : repeated.step(snapshot_seen)) decisions.push_back(decision_made);
  EXPECT_EQ(decisions, simulation.log);
  EXPECT_FALSE(repeated.reports().front().is_enabled);
}

TEST(settings, read_back_and_fit_knobs) {
  const std::vector<setting> all{{"app/0x12 34", {{"schedule", "dynamic"}, {"chunk", "64"}}}, {"other", {{"chunk", "1"}}}};
  const parsed_settings read = settings_from_text(to_text(all));
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.settings, all);
  const subject_info loop{1, "loop", {kinds("schedule", {"static", "dynamic"}), numbers("chunk", 1, 64, 1)}};
  std::string reason;
  EXPECT_EQ(changes_of(all, "app/0x12 34", loop, reason), (std::vector<change>{{0, 0, 1}, {1, 1, 64}}));
  EXPECT_TRUE(changes_of(all, "other", loop, reason).empty()) << "it has that value";
  EXPECT_TRUE(changes_of(all, "unknown", loop, reason).empty());
  EXPECT_EQ(reason, "");
  EXPECT_TRUE(changes_of({{"a", {{"schedule", "fac2"}}}}, "a", loop, reason).empty());
  EXPECT_NE(reason.find("schedule = fac2"), std::string::npos);
}

// As python/trimtab/history writes it (tests/python/test_history.py has the same text).
TEST(settings, of_the_history_are_understood) {
  const parsed_settings read =
      settings_from_text("trimtab-settings 1\napp+0x40 chunk=64 schedule=dynamic\na%20b/%C3%BC kind=%\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.settings, (std::vector<setting>{{"app+0x40", {{"chunk", "64"}, {"schedule", "dynamic"}}},
                                                 {"a b/\u00fc", {{"kind", ""}}}}));
}

TEST(settings, refuse_damage) {
  for (const char* wrong : {"", "trimtab-settings 2\n", "trimtab-settings 1\nkey\n", "trimtab-settings 1\nkey a=1",
                            "trimtab-settings 1\nkey a\n", "trimtab-settings 1\n a=1\n", "trimtab-settings 1\nkey =1\n"}) {
    const parsed_settings read = settings_from_text(wrong);
    EXPECT_NE(read.error, "") << wrong;
    EXPECT_TRUE(read.settings.empty());
  }
  EXPECT_EQ(settings_from_text("trimtab-settings 1\n").error, "");
}

}  // namespace
}  // namespace trimtab::steer::testing

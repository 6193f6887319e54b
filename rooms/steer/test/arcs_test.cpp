// ARCS as published, on the modelled regions: it searches its sets, keeps what was best, and keeps to nothing else.
#include "trimtab/steer/arcs.hpp"

#include <algorithm>
#include <set>

#include "../bench/surfaces.hpp"
#include "scenario.hpp"
#include "trimtab/steer/recall.hpp"

namespace trimtab::steer::testing {
namespace {

// Four of its schedules and nine of its chunks: the program's own is one of each.
subject_info region(subject_id id = 1) {
  return {
      id,
      "region",
      {{"schedule", *domain::categories({"as-written", "static", "dynamic", "guided", "fac2"}), 0, 1, consent::safe, 0, {}},
       {"chunk", *domain::powers_of_two(1, 1024), 4, 1, consent::safe, 0, {}},
       kinds("partition", {"even", "weighted"})}};
}
double quickest_guided_64(const std::vector<knob_value>& values, double) {
  return 1e-4 * (1 + std::abs(static_cast<double>(values[0]) - 3) + std::abs(std::log2(static_cast<double>(values[1])) - 6));
}
void run(scenario& here, int instances) {
  for (int i = 0; i < instances; ++i) here.run();
}

TEST(arcs, offline_measures_each_point_of_its_sets_once_and_keeps_the_best) {
  engine_options options;
  options.budget_share = 0;  // it keeps to none
  scenario here(options);
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  std::set<std::vector<knob_value>> seen;
  int twice = 0;
  here.add(region(), [&](const std::vector<knob_value>& values, double now_s) {
    if (here.log.empty() || here.log.back().what == outcome::trial) twice += !seen.insert(values).second;
    return quickest_guided_64(values, now_s);
  });
  run(here, 60);
  here.run(true);
  EXPECT_EQ(seen.size(), 4u * 9u);
  EXPECT_LE(twice, 1) << "the first entry is measured before anything is decided";
  EXPECT_EQ(here.knobs.accepted(1), (std::vector<knob_value>{3, 64, 0}));
  ASSERT_EQ(here.log.back().what, outcome::kept);
  EXPECT_EQ(here.log.back().policy, "arcs-offline");
  EXPECT_EQ(here.log.back().gain.pairs, 0u) << "nothing was proved";
}

TEST(arcs, online_finds_more_than_the_start_on_every_region) {
  for (const surfaces::surface& of : surfaces::all_surfaces()) {
    if (of.knobs != surfaces::arcs_knobs()) continue;
    scenario here;
    here.steering.add(std::make_unique<arcs>(arcs_kind::online));
    subject_info info{1, of.name, of.knobs};
    for (std::size_t i = 0; i < of.start.size(); ++i) info.knobs[i].initial = of.start[i];
    here.add(info, [&](const std::vector<knob_value>& values, double) { return of.seconds(values); });
    run(here, 150);
    here.run(true);
    EXPECT_LT(of.seconds(here.knobs.accepted(1)), 0.95 * of.seconds(of.start)) << of.name;
    EXPECT_EQ(here.values(1), here.knobs.accepted(1)) << of.name;
  }
}

TEST(arcs, a_run_that_ends_before_its_search_keeps_the_best_so_far) {
  scenario here;
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  here.add(region(), quickest_guided_64);
  run(here, 20);
  ASSERT_EQ(here.log.back().what, outcome::trial);
  const std::vector<decision>& last = here.run(true);
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back().what, outcome::kept);
  EXPECT_NE(here.knobs.accepted(1), (std::vector<knob_value>{0, 4, 0}));
  EXPECT_EQ(here.values(1), here.knobs.accepted(1));
}

TEST(arcs, where_the_program_is_best_by_itself_nothing_stays_changed) {
  scenario here;
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  here.add(region(),
           [](const std::vector<knob_value>& values, double) { return values[0] == 0 && values[1] == 4 ? 1.0 : 2.0; });
  run(here, 60);
  here.run(true);
  EXPECT_EQ(here.values(1), (std::vector<knob_value>{0, 4, 0}));
  EXPECT_EQ(here.log.back().what, outcome::undone);
}

TEST(arcs, knobs_of_others_and_what_needs_consent_are_left) {
  scenario here;
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  subject_info info{1, "loop", {kinds("partition", {"even", "weighted"}), numbers("threads", 1, 8, 8)}};
  info.knobs[1].asks = consent::needed;
  here.add(info, [](const std::vector<knob_value>& values, double) { return 1.0 + static_cast<double>(values[1]); });
  run(here, 60);
  EXPECT_TRUE(here.log.empty());
}

TEST(arcs, threads_are_searched_where_a_region_has_them) {
  scenario here;
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  here.add({1, "region", {numbers("threads", 1, 8, 7)}},
           [](const std::vector<knob_value>& values, double) { return 1.0 + std::abs(static_cast<double>(values[0]) - 4); });
  run(here, 10);
  EXPECT_EQ(here.knobs.accepted(1), (std::vector<knob_value>{4}));
  std::set<knob_value> tried;
  for (const decision& each : here.log)
    for (const change& one : each.changes) tried.insert(one.to);
  EXPECT_EQ(tried, (std::set<knob_value>{2, 4, 7, 8})) << "its own among them";
}

TEST(arcs, what_an_earlier_run_found_is_not_searched_again) {
  scenario here;
  here.steering.add(std::make_unique<recall>(std::vector<setting>{{"region", {{"chunk", "64"}}}},
                                             [](const subject_info& subject) { return subject.name; }));
  here.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  here.add(region(), quickest_guided_64);
  run(here, 60);
  ASSERT_EQ(here.log.size(), 1u);
  EXPECT_EQ(here.log.back().policy, "history");
}

}  // namespace
}  // namespace trimtab::steer::testing

// ARCS as published, on the modelled regions: it searches its sets, keeps what was best, and keeps to nothing else.
#include "trimtab/steer/arcs.hpp"

#include <algorithm>
#include <set>

#include "../bench/surfaces.hpp"
#include "scenario.hpp"
#include "trimtab/steer/history_policy.hpp"

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
void run(scenario& simulation, int instances) {
  for (int i = 0; i < instances; ++i) simulation.run();
}

TEST(arcs, offline_measures_each_point_of_its_sets_once_and_keeps_the_best) {
  engine_options options;
  options.budget_share = 0;  // it keeps to none
  scenario simulation(options);
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  std::set<std::vector<knob_value>> values_seen;
  int pass = 0;
  simulation.add(region(), [&](const std::vector<knob_value>& values, double now_s) {
    if (simulation.log.empty() || simulation.log.back().what == outcome::trial) pass += !values_seen.insert(values).second;
    return quickest_guided_64(values, now_s);
  });
  run(simulation, 60);
  simulation.run(true);
  EXPECT_EQ(values_seen.size(), 4u * 9u);
  EXPECT_LE(pass, 1) << "the first entry is measured before anything is decided";
  EXPECT_EQ(simulation.knobs.accepted(1), (std::vector<knob_value>{3, 64, 0}));
  ASSERT_EQ(simulation.log.back().what, outcome::kept);
  EXPECT_EQ(simulation.log.back().policy, "arcs-offline");
  EXPECT_EQ(simulation.log.back().gain.pairs, 0u) << "nothing was proved";
  std::vector<knob_value> first{0, 4, 0};
  for (const change& change : simulation.log.front().changes) first[change.knob] = change.to;
  EXPECT_EQ(figure_or(simulation.log.back().evidence, "measured_at_first", 0), quickest_guided_64(first, 0));
}

TEST(arcs, online_finds_more_than_the_start_on_every_region) {
  for (const surfaces::surface& surface : surfaces::all_surfaces()) {
    if (surface.knobs != surfaces::arcs_knobs()) continue;
    scenario simulation;
    simulation.steering.add(std::make_unique<arcs>(arcs_kind::online));
    subject_info info{1, surface.name, surface.knobs};
    for (std::size_t i = 0; i < surface.start.size(); ++i) info.knobs[i].initial = surface.start[i];
    simulation.add(info, [&](const std::vector<knob_value>& values, double) { return surface.seconds(values); });
    run(simulation, 150);
    simulation.run(true);
    EXPECT_LT(surface.seconds(simulation.knobs.accepted(1)), 0.95 * surface.seconds(surface.start)) << surface.name;
    EXPECT_EQ(simulation.values(1), simulation.knobs.accepted(1)) << surface.name;
  }
}

TEST(arcs, a_run_that_ends_before_its_search_keeps_the_best_so_far) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  double least_s = 1;
  std::vector<knob_value> best;
  simulation.add(region(), [&](const std::vector<knob_value>& values, double now_s) {
    const double seconds = quickest_guided_64(values, now_s);
    if (std::exchange(least_s, std::min(least_s, seconds)) > seconds) best = values;
    return seconds;
  });
  run(simulation, 20);
  ASSERT_EQ(simulation.log.back().what, outcome::trial);
  const std::vector<decision>& last = simulation.run(true);
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back().what, outcome::kept);
  EXPECT_EQ(simulation.knobs.accepted(1), best);
  EXPECT_EQ(simulation.values(1), best);
}

TEST(arcs, where_the_program_is_best_by_itself_nothing_stays_changed) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  simulation.add(region(),
                 [](const std::vector<knob_value>& values, double) { return values[0] == 0 && values[1] == 4 ? 1.0 : 2.0; });
  run(simulation, 60);
  simulation.run(true);
  EXPECT_EQ(simulation.values(1), (std::vector<knob_value>{0, 4, 0}));
  const decision& last = simulation.log.back();
  EXPECT_EQ(last.what, outcome::kept) << "so that it is remembered";
  EXPECT_EQ(last.changes, (std::vector<change>{{0, 0, 0}, {1, 4, 4}, {2, 0, 0}}));
}

TEST(arcs, knobs_of_others_and_what_needs_consent_are_left) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  subject_info info{1, "loop", {kinds("partition", {"even", "weighted"}), numbers("threads", 1, 8, 8)}};
  info.knobs[1].asks = consent::needed;
  simulation.add(info, [](const std::vector<knob_value>& values, double) { return 1.0 + static_cast<double>(values[1]); });
  run(simulation, 60);
  EXPECT_TRUE(simulation.log.empty());
}

TEST(arcs, threads_are_searched_where_a_region_has_them) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  simulation.add({1, "region", {numbers("threads", 1, 8, 7)}}, [](const std::vector<knob_value>& values, double) {
    return 1.0 + std::abs(static_cast<double>(values[0]) - 4);
  });
  run(simulation, 10);
  EXPECT_EQ(simulation.knobs.accepted(1), (std::vector<knob_value>{4}));
  std::set<knob_value> tried;
  for (const decision& decision : simulation.log)
    for (const change& change : decision.changes) tried.insert(change.to);
  EXPECT_EQ(tried, (std::set<knob_value>{2, 4, 7, 8})) << "its own among them";
}

TEST(arcs, leaves_what_another_policy_has_on_trial) {
  engine_options options;
  options.allowance_s = 100;
  scenario simulation(options);
  simulation.steering.add(std::make_unique<scripted>([](const view& now, std::vector<proposal>& out) {
    if (now.find(1)->last_trial == 0) out.push_back(trial_of(1, {{2, 1}}));
  }));
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  simulation.add(region(), quickest_guided_64);
  run(simulation, 60);
  EXPECT_EQ(simulation.log.size(), 1u);
  EXPECT_EQ(simulation.steering.counts().others, 0u) << "nothing is proposed for it";
}

// A number may come to stand for another region.
TEST(arcs, searches_anew_what_has_the_number_of_one_that_is_gone) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  simulation.add(region(), quickest_guided_64);
  run(simulation, 5);
  ASSERT_FALSE(simulation.log.empty());
  simulation.log.clear();
  snapshot now;
  now.time_s = simulation.time_s;
  now.gone = {1};
  simulation.tell(now);
  simulation.knobs.remove(1);
  knob_value threads = 2;
  decision_number active_decision = 0;
  const subject_info other_region{1, "another", {numbers("threads", 1, 2, 2), numbers("unroll", 1, 2, 1)}};
  simulation.knobs.add(
      other_region, [&](std::uint32_t, knob_value to) { return threads = to, true; },
      [&](auto number) { active_decision = number; });
  now.gone.clear();
  now.appeared = {other_region};
  simulation.tell(now);
  EXPECT_TRUE(simulation.steering.reports().front().is_enabled);
  EXPECT_TRUE(simulation.log.empty()) << "of two threads alone there is nothing to search";
}

TEST(arcs, what_an_earlier_run_found_is_not_searched_again) {
  scenario simulation;
  simulation.steering.add(std::make_unique<history_policy>(std::vector<setting>{{"region", {{"chunk", "64"}}}},
                                                           [](const subject_info& subject) { return subject.name; }));
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  simulation.add(region(), quickest_guided_64);
  run(simulation, 60);
  ASSERT_EQ(simulation.log.size(), 1u);
  EXPECT_EQ(simulation.log.back().policy, "history");
}

TEST(arcs, what_an_earlier_run_found_best_as_it_was_is_not_searched_again) {
  scenario simulation;
  simulation.steering.add(
      std::make_unique<arcs>(arcs_kind::offline, 1, [](const subject_info& subject) { return subject.name == "region"; }));
  simulation.add(region(), quickest_guided_64);
  run(simulation, 60);
  EXPECT_TRUE(simulation.log.empty());
}

// A region with a number of threads and two loops, one with schedule and chunk, one with a chunk of its own alone. What the
// region takes depends on all of it together.
struct grouped_region {
  static constexpr std::uint64_t group = 77;
  scenario here;
  std::set<std::vector<knob_value>> seen;
  std::size_t twice = 0;
  knob_value own;
  std::vector<knob_value> values[3];
  decision_number under[3] = {0, 0, 0};
  std::vector<subject_info> infos;
  double seconds_at_first = 0;

  explicit grouped_region(arcs_kind kind, knob_value own_threads, std::vector<knob_value> sizes) : own(own_threads) {
    here.steering.add(std::make_unique<arcs>(kind));
    infos = {{1, "region", {{"threads", *domain::set(std::move(sizes)), own, 1, consent::safe, 0, {}}}, group},
             {2, "loop", region().knobs, group},
             {3, "loop of chunks", {{"chunk", *domain::set({0, 1, 2, 4, 8, 16, 32}), 0, 1, consent::safe, 0, {}}}, group}};
    infos[1].knobs[1].initial = 1;
  }
  void appear(snapshot& now, std::size_t index) {
    const subject_info& info = infos[index];
    for (const knob& knob : info.knobs) values[index].push_back(knob.initial);
    here.knobs.add(
        info, [this, index](std::uint32_t knob, knob_value to) { return values[index][knob] = to, true; },
        [this, index](decision_number number) { under[index] = number; });
    now.appeared.push_back(info);
  }
  double seconds() const {
    const auto far = [](knob_value first_value, knob_value other) {
      return std::abs(std::log2(static_cast<double>(first_value) + 1) - std::log2(static_cast<double>(other) + 1));
    };
    // Guided pays with few threads only, so that one knob after the other would not find it.
    const bool is_pair = values[1][0] == 3 && values[0][0] <= own / 2;
    return (is_pair ? 1 : 2) + 0.1 * far(values[1][1], 64) + 0.1 * far(values[0][0], own / 4) + 0.01 * far(values[2][0], 8);
  }
  void entry(snapshot now = {}, bool is_last = false) {
    const double took = seconds();
    here.time_s += took;
    now.time_s = here.time_s;
    now.is_last = is_last;
    now.subjects.push_back({1, {{under[0], took, took, std::max(under[1], under[2])}}, {}});
    now.subjects.push_back({2, {{under[1], took / 2, took / 2}}, {}});
    if (here.log.empty() || here.log.back().what == outcome::trial)
      twice += !seen.insert({values[0][0], values[1][0], values[1][1], values[2][0]}).second;
    here.tell(now);
  }
  void run(int entries) {
    snapshot first;
    for (std::size_t i = 0; i < 3; ++i) appear(first, i);
    seconds_at_first = seconds();
    entry(std::move(first));
    for (int i = 0; i < entries; ++i) entry();
    entry({}, true);
  }
};

TEST(arcs, searches_threads_schedule_and_chunk_of_a_region_together) {
  for (const arcs_kind kind : {arcs_kind::offline, arcs_kind::online}) {
    grouped_region grouped(kind, 16, {1, 2, 4, 8, 16});
    grouped.run(400);
    for (const subject_id each : {1, 2, 3})
      EXPECT_EQ(grouped.here.knobs.accepted(each), grouped.values[each - 1]) << "kept, or what it was";
    std::set<subject_id> kept;
    for (const decision& decision : grouped.here.log)
      if (decision.what == outcome::kept) kept.insert(decision.subject);
    EXPECT_EQ(kept, (std::set<subject_id>{1, 2, 3})) << "all of the region is remembered";
    EXPECT_EQ(grouped.here.steering.reports().front().refused, 0u);
    if (kind == arcs_kind::online) {
      EXPECT_LT(grouped.seen.size(), 110u);
      EXPECT_LT(grouped.seconds(), 0.9 * grouped.seconds_at_first);
      continue;
    }
    // Threads 2, 4, 8, 16; four schedules; chunks 0 (of one loop its own), 1, 8, 16, 32, ... 512.
    EXPECT_EQ(grouped.seen.size(), 4u * 4u * 9u);
    EXPECT_EQ(grouped.values[0][0], 4);
    EXPECT_EQ(grouped.values[1], (std::vector<knob_value>{3, 64, 0}));
  }
}

TEST(arcs, has_the_sets_of_large_machines_where_there_are_as_many_threads) {
  grouped_region grouped(arcs_kind::offline, 160, {1, 2, 4, 8, 10, 16, 20, 24, 32, 40, 64, 80, 120, 128, 160});
  grouped.run(400);
  std::set<knob_value> threads;
  for (const auto& values : grouped.seen) threads.insert(values[0]);
  EXPECT_EQ(threads, (std::set<knob_value>{10, 20, 40, 80, 120, 160}));
  EXPECT_EQ(grouped.values[0][0], 40);
}

TEST(arcs, begins_again_when_another_loop_of_the_region_becomes_known) {
  grouped_region grouped(arcs_kind::offline, 4, {1, 2, 4});
  snapshot first, second;
  grouped.appear(first, 0);
  grouped.appear(first, 1);
  grouped.values[2] = {0};
  grouped.entry(std::move(first));
  for (int i = 0; i < 7; ++i) grouped.entry();
  grouped.values[2].clear();
  grouped.appear(second, 2);
  grouped.entry(std::move(second));
  for (int i = 0; i < 400; ++i) grouped.entry();
  grouped.entry({}, true);
  EXPECT_EQ(grouped.values[1], (std::vector<knob_value>{3, 64, 0}));
  EXPECT_EQ(grouped.here.knobs.accepted(1), grouped.values[0]);
  EXPECT_EQ(grouped.here.steering.reports().front().refused, 0u);
}

TEST(arcs, searches_loops_alone_where_their_region_has_no_number_of_threads) {
  scenario simulation;
  simulation.steering.add(std::make_unique<arcs>(arcs_kind::offline));
  subject_info region_info = region(1), other = region(2);
  region_info.group = other.group = 5;
  simulation.add(region_info, quickest_guided_64);
  simulation.add(other, [](const std::vector<knob_value>& values, double) { return values[0] == 1 ? 1.0 : 2.0; });
  run(simulation, 100);
  simulation.run(true);
  EXPECT_EQ(simulation.knobs.accepted(1), (std::vector<knob_value>{3, 64, 0}));
  EXPECT_EQ(simulation.knobs.accepted(2)[0], 1);
}

}  // namespace
}  // namespace trimtab::steer::testing

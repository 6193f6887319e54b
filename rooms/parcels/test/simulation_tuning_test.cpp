// Localities that tune together, in simulated time: how long it takes beside searches of each alone, and what they come to.
#include <gtest/gtest.h>

#include "simulation/tuned_programs.hpp"

namespace trimtab::parcels::simulation {
namespace {

constexpr std::uint64_t seeds = 5;

TEST(simulated_tuning, four_localities_take_six_tenths_of_the_time_of_separate_searches) {
  const std::vector<named_program> programs = programs_on_surfaces();
  std::vector<double> all_times;
  for (const double noise : {0.0, 0.05, 0.2}) {
    SCOPED_TRACE(noise);
    std::vector<double> times, candidates, alone_ended, together_ended;
    for (const named_program& each : programs) {
      const tuning_comparison result = compare_tuning(each, {.localities = 4, .noise = noise}, seeds);
      EXPECT_TRUE(result.together.is_always_settled && result.together.is_always_same) << each.name;
      times.push_back(result.time());
      candidates.push_back(result.together.candidates / result.alone.candidates);
      alone_ended.push_back(result.alone.ended_at);
      together_ended.push_back(result.together.ended_at);
    }
    all_times.insert(all_times.end(), times.begin(), times.end());
    // Without noise each locality alone is as lucky as all others, and the slowest of four is no slower than one.
    EXPECT_LE(geometric_mean(times), noise == 0 ? 0.66 : 0.6);
    EXPECT_LE(*std::max_element(times.begin(), times.end()), 1.0);
    EXPECT_LE(geometric_mean(candidates), 0.4);
    EXPECT_LE(geometric_mean(together_ended), 1.01 * geometric_mean(alone_ended));
  }
  EXPECT_LE(geometric_mean(all_times), 0.6);
}

TEST(simulated_tuning, more_localities_take_less_time) {
  const std::vector<named_program> programs = programs_on_surfaces();
  double before = 1e9;
  for (const std::uint32_t localities : {1u, 2u, 4u, 16u, 64u}) {
    std::vector<double> times;
    for (std::size_t i = 0; i < programs.size(); i += 4) {
      const tuning_summary result = tune_over_seeds(programs[i], {.localities = localities, .noise = 0.05}, 3);
      EXPECT_TRUE(result.is_always_settled && result.is_always_same) << programs[i].name;
      times.push_back(result.settled_s);
    }
    // A search has only so many candidates at a time: more than 16 localities hardly help.
    EXPECT_LT(geometric_mean(times), localities == 64 ? 1.1 * before : before) << localities << " localities";
    before = geometric_mean(times);
  }
}

TEST(simulated_tuning, a_setting_of_coalescing_is_found_for_the_whole_job) {
  const named_program burst = coalescing_program("burst", run_burst);
  const tuning_summary result = tune_over_seeds(burst, {.localities = 4, .noise = 0.05}, seeds);
  EXPECT_TRUE(result.is_always_settled && result.is_always_same);
  EXPECT_LE(result.ended_at, 1.1);
}

TEST(simulated_tuning, localities_of_different_speeds_come_to_good_values) {
  std::vector<double> ended;
  for (const named_program& each : programs_on_surfaces()) {
    const tuning_summary result = tune_over_seeds(each, {.localities = 4, .noise = 0.05, .slowest = 4}, 3);
    EXPECT_TRUE(result.is_always_settled && result.is_always_same) << each.name;
    ended.push_back(result.ended_at);
  }
  EXPECT_LE(geometric_mean(ended), 1.1);
}

TEST(simulated_tuning, localities_that_are_lost_hold_nothing_up) {
  for (const named_program& each : programs_on_surfaces()) {
    const tuning_summary result = tune_over_seeds(each, {.localities = 8, .noise = 0.05, .lost = 5}, 3);
    EXPECT_TRUE(result.is_always_settled && result.is_always_same) << each.name;
  }
}

TEST(simulated_tuning, is_the_same_for_the_same_seed) {
  const named_program program = programs_on_surfaces().front();
  const tuning_parameters parameters{.localities = 7, .noise = 0.2, .seed = 5};
  const tuning_outcome one = simulate_tuning(program.program, parameters),
                       other = simulate_tuning(program.program, parameters);
  EXPECT_EQ(one.settled_s, other.settled_s);
  EXPECT_EQ(one.candidates, other.candidates);
}

}  // namespace
}  // namespace trimtab::parcels::simulation

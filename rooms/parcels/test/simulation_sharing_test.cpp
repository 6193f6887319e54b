// How localities share load in simulated time: the rules are those of real jobs, and the figures the same on every machine.
#include <gtest/gtest.h>

#include "simulation/sharing_model.hpp"

namespace trimtab::parcels::simulation {
namespace {

job_parameters sharing_cluster(std::uint32_t localities, std::uint64_t seed) {
  return {.localities = localities, .network = {.latency_ns = 1500, .overhead_ns = 400, .gap_ns = 300}, .seed = seed};
}

TEST(simulated_sharing, knows_what_is_at_most_two_periods_old_with_eight_localities) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_LE(staleness_of(sharing_cluster(8, seed), {.seed = seed}, 150).p99, 2.0) << "seed " << seed;
}

TEST(simulated_sharing, knows_more_with_views_that_go_along_with_messages) {
  const load_sharing_options only_rounds{.messages = 0};
  const double without = staleness_of(sharing_cluster(8, 1), only_rounds, 100, 50).p99;
  EXPECT_LT(staleness_of(sharing_cluster(8, 1), {.messages = 4}, 100, 50).p99, without);
}

TEST(simulated_sharing, is_deterministic) {
  const auto run = [](std::uint64_t seed) {
    return run_placed({.steps = 4}, placing::balanced, sharing_cluster(4, seed), {.seed = seed});
  };
  EXPECT_GT(run(1), 0);
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(simulated_sharing, makes_a_mesh_with_a_moving_front_faster) {
  for (const std::uint32_t localities : {2u, 8u}) {
    const sharing_program program{.pattern = imbalance::front, .steps = 8};
    const double fixed = run_placed(program, placing::fixed, sharing_cluster(localities, 1), {});
    const double balanced = run_placed(program, placing::balanced, sharing_cluster(localities, 1), {});
    const double ideal = run_placed(program, placing::ideal, sharing_cluster(localities, 1), {});
    EXPECT_GT(ideal, 0);
    EXPECT_LT(ideal, balanced);
    EXPECT_LT(balanced, 0.85 * fixed) << localities << " localities";
  }
}

}  // namespace
}  // namespace trimtab::parcels::simulation

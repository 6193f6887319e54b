#include "trimtab/openmp/thread_steering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "steering/arrival_skew.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/steer/fitting/figures.hpp"

namespace trimtab::openmp {
namespace {

namespace figures = steer::figures;

class nowhere : public steer::record_target {
 public:
  std::uint32_t add_knob(steer::subject_id, const char*, const char*, const char*) override { return 0; }
  std::uint16_t add_policy(const char*) override { return 0; }
  void decide(const observe::decision&) override {}
  void fact(const char*, const char*) override {}
  void unavailable(const char*, const char*, const char*) override {}
};

std::optional<double> figure_in(const steer::snapshot& now, std::string_view name) {
  const auto found =
      std::find_if(now.figures.begin(), now.figures.end(), [&](const steer::figure& each) { return each.name == name; });
  return found == now.figures.end() ? std::nullopt : std::optional(found->value);
}

TEST(thread_steering, tells_how_far_apart_regions_end_where_the_kernel_tells_no_run_delay) {
  static const char a_runtime = 0;
  const team_sizes::who here{1, &a_runtime};
  steer::board knobs;
  steer::decision_record record(std::make_unique<nowhere>());
  thread_steering_options options;
  options.allowed.bits[0] = 0b11;
  options.root = "/nowhere";
  thread_steering steering(knobs, record, options);
  steer::snapshot now;
  // As long as a window takes.
  for (the_team_sizes.fork(here, 2); !figure_in(now, figures::skew_seconds); the_team_sizes.fork(here, 2)) {
    note_skew(static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(8e6)));
    now = {};
    steering.add_to(now);
  }
  EXPECT_NEAR(*figure_in(now, figures::skew_seconds), 8e-3, 1e-5);
  EXPECT_EQ(figure_in(now, figures::run_delay_share), std::nullopt);
  EXPECT_EQ(figure_in(now, figures::idle_cpus), std::nullopt);
  EXPECT_EQ(figure_in(now, figures::allowed_cpus), 2.0);
  thread_steering::after_fork();
  EXPECT_FALSE(is_fitting_teams.load());
}

}  // namespace
}  // namespace trimtab::openmp

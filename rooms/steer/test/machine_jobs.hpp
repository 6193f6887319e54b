// What a machine keeps of a program that runs on it.
#pragma once

#include <optional>

#include "machine.hpp"
#include "trimtab/steer/thread_fitting/team_trial.hpp"

namespace trimtab::steer::testing {

struct machine::job {
  program seen;
  std::uint32_t number = 0;
  bool is_running = false;
  std::deque<thread> threads;  // the first `members` are the team
  std::size_t members = 1;
  double region_began_s = 0;
  std::optional<double> first_there_s;
  bool is_barrier = false;  // the region is a timed barrier
  knob_value barrier_members = 0;

  // In the window.
  double window_began_s = 0, idle_before_s = 0, windows = 0;
  double skew_s = 0, used_s = 0, throttled_s = 0;
  double quota_left_s = never;
  bool is_throttled = false;

  std::uint64_t evaluations = 0;
  double evaluated_s = 0, passage_s = 0;
  std::size_t passage_members = 0;

  double time_s = 0;  // within the tick
  knob_value trial_members = 0;
  team_trial trial;
  double trials_over = 0;
  std::uint64_t regions_told = 0;

  std::unique_ptr<engine> steering;
  bool has_appeared = false;
  observe::cpu_member record;
  bool is_member = false;
};

}  // namespace trimtab::steer::testing

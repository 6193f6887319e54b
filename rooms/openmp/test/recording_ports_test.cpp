// What recording sees of the steering side: tables while something is switched on, and a rule for each region.
#include "steering/recording_ports.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "accounting/region_mode.hpp"
#include "accounting/steering_ports.hpp"
#include "steering/region_sizes.hpp"
#include "steering/steered_loops.hpp"
#include "steering/team_sizes.hpp"
#include "steering/virtual_threads.hpp"
#include "steering/watching.hpp"
#include "trimtab/openmp/block_time.hpp"

namespace trimtab::openmp {
namespace {

char region, other_region;

region_rule rule() { return rule_at(&region).load(); }
bool are_all_off() {
  const steering_ports& ports = the_steering_ports;
  return ports.loops == nullptr && ports.teams == nullptr && ports.regions == nullptr && ports.waits == nullptr &&
         ports.run_virtually == nullptr && !ports.are_forks_changed;
}

TEST(recording_ports, are_there_while_something_is_switched_on) {
  EXPECT_TRUE(are_all_off());
  is_steering.store(true);
  EXPECT_NE(the_steering_ports.loops.load(), nullptr);
  EXPECT_FALSE(the_steering_ports.are_forks_changed);
  is_steering.store(false);
  for (steering_switch* const each : {&is_fitting_teams, &are_virtual_threads_allowed}) {
    each->store(true);
    EXPECT_TRUE(the_steering_ports.are_forks_changed);
    each->store(false);
  }
  are_regions_fitted.store(true);
  EXPECT_NE(the_steering_ports.regions.load(), nullptr);
  are_regions_fitted.store(false);
  time_waits(true);
  EXPECT_NE(the_steering_ports.waits.load(), nullptr);
  time_waits(false);
  EXPECT_TRUE(are_all_off());
}

TEST(recording_ports, a_region_is_recorded_as_what_needs_most_of_it) {
  EXPECT_EQ(rule().mode, region_mode::sampled);
  EXPECT_EQ(rule().loops_watched_one_in, 0u) << "not steered";
  is_steering.store(true);
  EXPECT_EQ(rule().mode, region_mode::counted);
  EXPECT_EQ(rule().loops_watched_one_in, 1u);
  time_waits(true);
  EXPECT_EQ(rule().mode, region_mode::sampled);
  is_fitting_teams.store(true);
  EXPECT_EQ(rule().mode, region_mode::timed);
  EXPECT_FALSE(rule().is_sampled_by_mean);
  watch(&region, watching::always);
  EXPECT_EQ(rule().mode, region_mode::shared_out);
  EXPECT_EQ(rule_at(&other_region).load().mode, region_mode::timed);
  is_fitting_teams.store(false);
  time_waits(false);
  watch(&region, watching::rarely);
  EXPECT_EQ(rule().mode, region_mode::counted);
  EXPECT_EQ(rule().loops_watched_one_in, watched_one_in);
  is_steering.store(false);
  forget_watching();
  EXPECT_EQ(rule().mode, region_mode::sampled);
}

// The steering thread switches, a thread of the program meets a loop: the last rule follows from both.
TEST(recording_ports, threads_that_change_something_at_once_agree) {
  for (int round = 0; round < 500; ++round) {
    std::thread steering([] { is_steering.store(true); });
    watch(&region, watching::always);
    steering.join();
    ASSERT_EQ(rule().mode, region_mode::shared_out) << round;
    is_steering.store(false);
    forget_watching();
  }
}

}  // namespace
}  // namespace trimtab::openmp

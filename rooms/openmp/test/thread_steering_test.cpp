#include "trimtab/openmp/thread_steering.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "made_up_record.hpp"
#include "scratch_folder.hpp"
#include "steering/arrival_skew.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/observe/program_requests.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::openmp {
namespace {

namespace figures = steer::figures;

std::optional<double> figure_in(const steer::snapshot& now, std::string_view name) {
  const auto match = std::find_if(now.figures.begin(), now.figures.end(),
                                  [&](const steer::figure& candidate) { return candidate.name == name; });
  return match == now.figures.end() ? std::nullopt : std::optional(match->value);
}

class thread_steering_of_two : public ::testing::Test {
 protected:
  thread_steering_of_two() { std::construct_at(&the_team_sizes); }  // other tests leave rules behind
  // The process's rules stay as they are, once it has forked.
  static void TearDownTestSuite() {
    thread_steering::leave_teams();
    EXPECT_FALSE(is_fitting_teams.load());
  }
  static thread_steering_options options_for(const std::string& root) {
    thread_steering_options options;
    options.allowed.bits[0] = 0b11;
    options.root = root;
    return options;
  }
  static void fork() {
    static const char a_runtime = 0;
    the_team_sizes.fork({1, &a_runtime}, 2);
  }
  steer::board m_knobs;
  steer::decision_record m_record{std::make_unique<made_up_record>()};
  steer::knob_registry m_registry{m_knobs, m_record};
};

TEST_F(thread_steering_of_two, tells_how_far_apart_regions_end_where_the_kernel_tells_no_run_delay) {
  thread_steering steering(m_registry, options_for("/nowhere"));
  steer::snapshot now;
  for (const double time_s : {0.0, 1.0}) {
    fork();
    note_skew(static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(8e6)));
    now = {};
    now.time_s = time_s;
    steering.add_to(now);
  }
  ASSERT_TRUE(figure_in(now, figures::skew_seconds));
  EXPECT_NEAR(*figure_in(now, figures::skew_seconds), 8e-3, 1e-5);
  EXPECT_EQ(figure_in(now, figures::run_delay_share), std::nullopt);
  EXPECT_EQ(figure_in(now, figures::idle_cpus), std::nullopt);
  EXPECT_EQ(figure_in(now, figures::allowed_cpus), 2.0);
}

TEST_F(thread_steering_of_two, tells_whether_threads_are_to_be_fitted) {
  using observe::thread_fitting_request;
  for (const bool is_on : {false, true}) {
    thread_steering_options options = options_for("/nowhere");
    options.is_on = is_on;
    thread_steering steering(m_registry, options);
    for (const thread_fitting_request its :
         {thread_fitting_request::none, thread_fitting_request::off, thread_fitting_request::on}) {
      observe::requested_thread_fitting = its;
      fork();
      steer::snapshot now;
      steering.add_to(now);
      EXPECT_EQ(figure_in(now, figures::fitting),
                its == thread_fitting_request::on || (its == thread_fitting_request::none && is_on) ? 1.0 : 0.0);
    }
    observe::requested_thread_fitting = thread_fitting_request::none;
  }
}

TEST_F(thread_steering_of_two, tells_sooner_when_members_have_lost_enough) {
  const scratch_folder root;
  ASSERT_NE(observe::this_lane(), nullptr);
  const std::string own_file = "/proc/" + std::to_string(gettid()) + "/schedstat";
  const auto write_delay = [&](std::uint64_t delay_ns) { root.put(own_file, "0 " + std::to_string(delay_ns) + " 0\n"); };
  write_delay(0);
  std::filesystem::create_symlink(std::to_string(getpid()), root.path() + "/proc/self");
  thread_steering steering(m_registry, options_for(root.path()));
  double time_s = 0, delay_s = 0;
  // Until one ends.
  const auto length_of_window = [&](double lost_cpus) {
    constexpr double look_s = 1e-3, too_long_s = 1;
    std::optional<double> before;
    const double begun_s = time_s;
    for (; time_s - begun_s < too_long_s; time_s += look_s, delay_s += look_s * lost_cpus) {
      fork();
      write_delay(static_cast<std::uint64_t>(delay_s * 1e9));
      steer::snapshot now;
      now.time_s = time_s;
      steering.add_to(now);
      const std::optional<double> windows = figure_in(now, figures::windows);
      if (windows && *windows > before.value_or(*windows)) return time_s - begun_s;
      before = windows;
    }
    return too_long_s;
  };
  constexpr double exactly = 2e-3;
  for (int first = 0; first < 3; ++first) EXPECT_NEAR(length_of_window(0.4), 0.06, exactly);
  EXPECT_NEAR(length_of_window(0.4), 0.15, exactly);
  EXPECT_NEAR(length_of_window(2), 0.075, exactly) << "half a window, and more than half of it lost";
  EXPECT_NEAR(length_of_window(0.7), 0.1125, exactly) << "read twelve times a window";
  EXPECT_NEAR(length_of_window(0.4), 0.15, exactly);
}

TEST_F(thread_steering_of_two, reads_the_load_average_every_so_often_where_a_policy_goes_by_it) {
  const scratch_folder root;
  root.put("/proc/loadavg", "3.25 2.00 1.00 2/345 6789\n");
  thread_steering_options options = options_for(root.path());
  options.load_time_s = 30;
  options.evaluates = thread_steering_options::evaluated::iterations;
  thread_steering steering(m_registry, options);
  const auto look = [&](double time_s) {
    fork();
    steer::snapshot now;
    now.time_s = time_s;
    steering.add_to(now);
    return now;
  };
  look(1);
  EXPECT_EQ(figure_in(look(30), figures::load_average), std::nullopt) << "30 s since the first region";
  root.put("/proc/loadavg", "0.50 2.00 1.00 2/345 6789\n");
  const steer::snapshot first = look(31);
  EXPECT_EQ(figure_in(first, figures::load_average), 0.5);
  EXPECT_EQ(figure_in(first, figures::load_readings), 1.0);
  EXPECT_GE(figure_in(first, figures::online_cpus).value_or(0), 1.0);
  EXPECT_EQ(figure_in(look(60), figures::load_readings), 1.0);
  EXPECT_EQ(figure_in(look(62), figures::load_readings), 2.0);
}

TEST_F(thread_steering_of_two, has_the_knobs_of_its_policy) {
  using evaluated = thread_steering_options::evaluated;
  const std::pair<evaluated, std::vector<std::string>> expected[] = {
      {evaluated::nothing, {"threads"}},
      {evaluated::iterations, {"threads", "threads_if_bad"}},
      {evaluated::barrier, {"threads", "barrier_members", "threads_if_bad"}},
      {evaluated::asked_barrier, {"threads", "barrier_members"}},
      {evaluated::iterations_after_barrier, {"threads"}}};
  for (const auto& [which, names] : expected) {
    thread_steering_options options = options_for("/nowhere");
    options.evaluates = which;
    steer::board knobs;
    steer::decision_record record{std::make_unique<made_up_record>()};
    steer::knob_registry registry{knobs, record};
    thread_steering steering(registry, options);
    fork();
    steer::snapshot now;
    steering.add_to(now);
    ASSERT_EQ(now.appeared.size(), 1u);
    std::vector<std::string> offered;
    for (const steer::knob& knob : now.appeared.front().knobs) offered.push_back(knob.name);
    EXPECT_EQ(offered, names);
  }
}

}  // namespace
}  // namespace trimtab::openmp

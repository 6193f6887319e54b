#include "block_time_steering.hpp"

#include <algorithm>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::session {

namespace {

constexpr double window_s = 0.05;
constexpr double least_regions = 4;
constexpr double change_s = 1e-6;
// Who always has a CPU waits for nobody longer than it must: then it is not looked at how long that is.
constexpr double crowded_share = steer::wait_policy_options{}.bad_share / 2;
constexpr unsigned crowded_windows = 2, calm_windows = 4;  // in a row
// To time waits costs each region. Those of a few us, which nothing would be done about, are looked at now and then only.
constexpr double short_wait_s = steer::wait_policy_options{}.long_wait_s / 2;
constexpr unsigned short_windows = 2;
constexpr double first_rest_s = 1, most_rest_s = 8;

}  // namespace

bool block_time_steering::make_known(steer::snapshot& now) {
  const std::int64_t own_value = openmp::programs_block_time();
  if (own_value < 0) return false;
  m_id = observe::the_recorder.named_subject(observe::subject_kind::scope, "threads that wait", "", 0);
  if (m_id == observe::no_subject) {
    m_is_ignored = true;
    return false;
  }
  const steer::subject_info info{m_id,
                                 "threads that wait",
                                 {{std::string(steer::knobs::block_time),
                                   steer::certain(steer::domain::set({0, 1, 10, 200, own_value})),
                                   own_value,
                                   change_s,
                                   steer::consent::safe,
                                   0,
                                   {}}}};
  // Without a key: what others did to this run is nothing for the next one to begin with.
  m_registry.offer(now, {info, "", 0, [](std::uint32_t, steer::knob_value to) { return openmp::want_block_time(to); },
                         [this](steer::decision_number number) { m_in_force.store(number, std::memory_order_relaxed); }});
  return true;
}

// While threads lack CPUs, or wait in another way than the program's.
bool block_time_steering::is_worth_timing(double delayed, double now_s) {
  const std::vector<steer::knob_value> values = m_registry.knobs().values(m_id);
  const bool is_own_value = values.empty() || values.front() == openmp::programs_block_time();
  const bool is_crowded = delayed >= crowded_share;
  m_crowded = is_crowded ? m_crowded + 1 : 0;
  m_calm = is_own_value && !is_crowded ? m_calm + 1 : 0;
  if (is_own_value && now_s < m_rests_until_s) return false;
  return !is_own_value || m_crowded >= crowded_windows || (m_is_timing && m_calm < calm_windows);
}

// A window in which waits were timed has ended.
void block_time_steering::rest_if_short(double wait_s, double now_s) {
  m_short = wait_s < short_wait_s ? m_short + 1 : 0;
  if (m_short == 0) m_rest_s = 0;
  if (m_short < short_windows) return;
  m_short = 0;
  m_rest_s = m_rest_s == 0 ? first_rest_s : std::min(2 * m_rest_s, most_rest_s);
  m_rests_until_s = now_s + m_rest_s;
}

// Windows are of one setting, and of some regions at least.
void block_time_steering::add_to(steer::snapshot& now) {
  if (m_is_ignored) return;
  if (!m_is_known) m_is_known = make_known(now);
  if (!m_is_known) return;
  const steer::decision_number decision_number = m_in_force.load(std::memory_order_relaxed);
  const openmp::region_waits waits = openmp::waits_so_far();
  const auto regions = static_cast<double>(waits.regions - m_waits.regions);
  const double seconds = now.time_s - m_begun_s, waited_s = waits.seconds - m_waits.seconds;
  const bool is_of_decision = m_under == decision_number, was_timing = m_is_timing;
  if (is_of_decision && (seconds < window_s || (was_timing && regions < least_regions))) return;
  m_under = decision_number;
  m_waits = waits;
  m_begun_s = now.time_s;
  const std::optional<double> delayed = m_lanes.delay_share();
  if (!delayed) return;
  if (is_of_decision && was_timing) rest_if_short(waited_s / regions, now.time_s);
  m_is_timing = is_worth_timing(*delayed, now.time_s);
  openmp::time_waits(m_is_timing);
  if (!is_of_decision || !was_timing) return;
  m_windows += 1;
  now.subjects.push_back({m_id,
                          {{decision_number, seconds / regions, seconds}},
                          {{std::string(steer::figures::run_delay_share), *delayed},
                           {std::string(steer::figures::wait_seconds), waited_s / regions},
                           {std::string(steer::figures::windows), m_windows}}});
}

}  // namespace trimtab::session

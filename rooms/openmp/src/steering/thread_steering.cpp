#include "trimtab/openmp/thread_steering.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "steering/arrival_skew.hpp"
#include "steering/first_share.hpp"
#include "steering/team_evaluation.hpp"
#include "steering/team_sizes.hpp"
#include "steering/tried_teams.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/program_requests.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::openmp {

using observe::the_recorder;
using steer::knob_value;
namespace figures = steer::figures;

namespace {

constexpr double window_s = 0.15;
// The first ones: threads that a program begins with are in others' way until one is over.
constexpr double first_window_s = 0.06;
constexpr std::uint64_t first_windows = 3;
constexpr double reads_of_window = 12;
// A new team's threads are made at the next fork.
constexpr double change_cost_s = 100e-6;
constexpr std::uint32_t threads_knob = 0;

using evaluated = thread_steering_options::evaluated;

// The first knob, or one that a policy has besides; nullptr: there is none.
using turn_function = void(std::uint32_t) noexcept;
void want_members(std::uint32_t members) noexcept {
  the_team_sizes.want(members >= the_team_sizes.own() ? team_sizes::as_it_is : members);
}
bool turn(std::uint32_t knob, knob_value to, turn_function* second, turn_function* third) {
  if (to < 0) return false;
  const auto members = static_cast<std::uint32_t>(to);
  if (knob == threads_knob) {
    want_members(members);
    return true;
  }
  turn_function* const other = knob == threads_knob + 1 ? second : third;
  if (other != nullptr) other(members);
  return other != nullptr;
}

evaluation_kind kind_of(evaluated evaluation_case) noexcept {
  switch (evaluation_case) {
    case evaluated::iterations:
      return evaluation_kind::iterations;
    case evaluated::barrier:
      return evaluation_kind::barrier;
    case evaluated::iterations_after_barrier:
      return evaluation_kind::iterations_after_barrier;
    case evaluated::asked_barrier:
      return evaluation_kind::asked_barrier;
    case evaluated::nothing:
      break;
  }
  return evaluation_kind::none;
}

}  // namespace

thread_steering::thread_steering(steer::knob_registry& registry, const thread_steering_options& options)
    : m_registry(registry),
      m_options(options),
      m_watch(options.allowed, options.registry, options.root),
      m_lanes(m_options.root.c_str()) {
  // One more than there are CPUs, so that what is fitted to the CPUs holds for every clause.
  if (options.includes_fixed) the_team_sizes.include_fixed(options.allowed.count() + 1);
  if (options.is_on) announce(options.registry, options.allowed);
  set_evaluation_rules({options.eval_time_s, options.bad_passage_s, options.longest_dip_s, options.bad_spread,
                        options.bad_trig, options.nice});
  is_fitting_teams.store(true, std::memory_order_release);
}

void thread_steering::leave_teams() noexcept {
  if (!is_fitting_teams.load(std::memory_order_relaxed)) return;
  evaluation_due.store(evaluation_kind::none, std::memory_order_relaxed);
  restore_priority();
  is_fitting_teams.store(the_team_sizes.leave_as_told(), std::memory_order_relaxed);
}

bool thread_steering::has_published_rule() const noexcept {
  return m_options.evaluates == evaluated::iterations || m_options.evaluates == evaluated::barrier;
}

// Safe, since without consent there is no such subject.
steer::subject_info thread_steering::describe(steer::subject_id id) const {
  const auto own_count = static_cast<knob_value>(the_team_sizes.own());
  steer::subject_info info{id, "threads of teams", {}};
  const auto add = [&info, own_count](std::string_view name, knob_value smallest, knob_value initial, double cost_s) {
    info.knobs.push_back({std::string(name),
                          steer::certain(steer::domain::range(smallest, own_count)),
                          initial,
                          cost_s,
                          steer::consent::safe,
                          0,
                          {}});
  };
  add(steer::knobs::threads, 1, own_count, change_cost_s);
  if (m_options.evaluates == evaluated::barrier || m_options.evaluates == evaluated::asked_barrier)
    add(steer::knobs::barrier_members, 0, 0, 0);
  if (has_published_rule()) add(steer::knobs::threads_if_bad, 0, 0, 0);
  if (m_options.has_trials) add(steer::knobs::trial_members, 0, 0, 0);
  return info;
}

void thread_steering::appear(steer::snapshot& now) {
  const std::uint32_t id = the_recorder.named_subject(observe::subject_kind::mark, "threads of teams", "", 0);
  if (id == observe::no_subject) return;
  steer::subject_info info = describe(id);
  m_subject = id;
  turn_function* others[2] = {nullptr, nullptr};
  for (std::size_t i = 1; i < info.knobs.size(); ++i) {
    const std::string& name = info.knobs[i].name;
    others[i - 1] = name == steer::knobs::barrier_members  ? set_barrier_members
                    : name == steer::knobs::threads_if_bad ? set_threads_if_bad
                                                           : try_members;
  }
  const auto apply = [second = others[0], third = others[1]](std::uint32_t knob, knob_value to) {
    return turn(knob, to, second, third);
  };
  m_load_read_s = now.time_s;
  m_registry.offer(now, {std::move(info), "", 0, apply, {}});
}

std::optional<std::uint32_t> thread_steering::members_of_knob() const {
  if (!m_subject) return std::nullopt;
  const std::vector<knob_value> values = m_registry.knobs().values(*m_subject);
  return values.empty() ? std::nullopt : std::optional(static_cast<std::uint32_t>(values[threads_knob]));
}

// What the knob says is also what regions have: no promise is in the way.
bool thread_steering::is_in_force() const { return members_of_knob() == the_team_sizes.latest(); }

// A bad evaluation that no policy has seen may have taken a thread just before the switch: the knob never had fewer then.
void thread_steering::stop_evaluating() {
  ask_for_evaluation(evaluation_kind::none);
  const auto members = members_of_knob();
  if (has_published_rule() && members && *members != the_team_sizes.latest()) want_members(*members);
}

void thread_steering::begin_window(double now_s) {
  m_watch.begin();
  m_lanes.since_last();
  take_longest_skew();
  count_window(now_s);
}

void thread_steering::count_window(double now_s) {
  m_begun_s = now_s;
  m_members = the_team_sizes.latest();
  m_forks = the_team_sizes.forks();
  m_tellings = the_team_sizes.tellings();
  m_delay_s.reset();
  m_read_s = 0;
}

// What members lost is read when it is over, and in its second half now and then.
bool thread_steering::is_window_over(double now_s) {
  const double length_s = m_windows < first_windows ? first_window_s : window_s, so_far_s = now_s - m_begun_s;
  if (so_far_s < length_s && so_far_s < std::max(m_read_s, length_s / 2)) return false;
  if (const auto lane_times = m_lanes.since_last())
    m_delay_s = m_delay_s.value_or(0) + static_cast<double>(lane_times->run_delay_ns) * 1e-9;
  m_read_s = so_far_s + length_s / reads_of_window;
  return so_far_s >= length_s || steer::has_lost_enough(m_delay_s.value_or(0), so_far_s, length_s);
}

// Of regions that all had the size which is in force; otherwise it begins anew.
void thread_steering::end_window(double now_s) {
  const std::uint32_t members = the_team_sizes.latest(), forks = the_team_sizes.forks(),
                      tellings = the_team_sizes.tellings();
  const bool is_valid = is_in_force() && members == m_members;
  if (is_valid && !is_window_over(now_s)) return;
  if (!is_valid || (forks == m_forks && !the_recorder.is_parallel())) {
    begin_window(now_s);
    return;
  }
  const observe::cpu_window ended = m_watch.end(the_team_sizes.own());
  const std::uint32_t regions = forks - m_forks;
  // Where the program relies on a number, it can be tried with another only if it asks before each region.
  const bool can_try = !the_team_sizes.is_promised() || tellings - m_tellings + 1 >= regions;
  m_windows += 1;
  m_figures = steer::figures_of(ended, m_delay_s, members);
  count_window(now_s);
  if (regions > 0 && can_try) m_figures.push_back({std::string(figures::region_seconds), ended.seconds / regions});
  const auto skew = static_cast<double>(take_longest_skew());
  m_figures.push_back({std::string(figures::skew_seconds), skew * the_recorder.clock().ns_per_tick * 1e-9});
}

bool thread_steering::is_on() const noexcept {
  const observe::thread_fitting_request request = observe::requested_thread_fitting.load(std::memory_order_relaxed);
  return request == observe::thread_fitting_request::none ? m_options.is_on : request == observe::thread_fitting_request::on;
}

// An evaluation is asked for once the policy has seen the one before, and what it changed is in force. A published rule is
// asked for all the time: the thread that forks sees to the least time between two, and measures iterations at each region.
void thread_steering::evaluate(double now_s) {
  if (m_options.evaluates == evaluated::nothing) return;
  if (!is_on()) {
    stop_evaluating();
    return;
  }
  if (m_options.nice > 0 && !std::exchange(m_has_lower_priority, true)) {
    ask_for_evaluation(evaluation_kind::priority);
    return;
  }
  const std::uint64_t latest = latest_evaluation().number;
  const bool was_judged = std::exchange(m_seen, latest) == latest;
  if (!is_in_force()) return;
  if (has_published_rule()) {
    const bool is_free = evaluation_due.load(std::memory_order_acquire) == evaluation_kind::none;
    if (is_free && was_judged) ask_for_evaluation(kind_of(m_options.evaluates));
    return;
  }
  if (now_s - m_evaluated_s < m_options.eval_time_s) return;
  m_evaluated_s = now_s;
  ask_for_evaluation(kind_of(m_options.evaluates));
}

void thread_steering::read_load(double now_s) {
  if (m_options.load_time_s <= 0 || now_s - m_load_read_s < m_options.load_time_s) return;
  m_load_read_s = now_s;
  std::string text;
  if (base::read_whole_file((m_options.root + "/proc/loadavg").c_str(), text) != 0) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), m_load);
  if (error == std::errc{}) m_load_readings += 1;
}

void thread_steering::tell_evaluation(steer::snapshot& now) const {
  const auto add = [&now](std::string_view name, double value) { now.figures.push_back({std::string(name), value}); };
  if (m_load_readings > 0) {
    add(figures::load_average, m_load);
    add(figures::load_readings, m_load_readings);
    add(figures::online_cpus, static_cast<double>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)));
  }
  const evaluation latest = latest_evaluation();
  if (latest.number == 0) return;
  add(figures::evaluations, static_cast<double>(latest.number));
  if (m_options.evaluates == evaluated::iterations || m_options.evaluates == evaluated::iterations_after_barrier) {
    add(figures::iterations_spread, latest.spread);
    return;
  }
  add(figures::passage_seconds, latest.passage_s);
  add(figures::passage_members, latest.members);
  if (latest.dip_members == 0) return;
  add(figures::dip_seconds, latest.dip_s);
  add(figures::dip_members, latest.dip_members);
}

void thread_steering::tell(steer::snapshot& now) const {
  now.figures.insert(now.figures.end(), m_figures.begin(), m_figures.end());
  steer::add_figures_of(m_watch, m_windows, now.figures);
  const auto add = [&now](std::string_view name, double value) { now.figures.push_back({std::string(name), value}); };
  add(figures::fitting, is_on() ? 1 : 0);
  if (const tried_team tried = latest_trial(); tried.number > 0) {
    add(figures::team_trials, static_cast<double>(tried.number));
    add(figures::trial_ratio, tried.ratio);
  }
  if (m_options.evaluates != evaluated::nothing) tell_evaluation(now);
}

void thread_steering::add_to(steer::snapshot& now) {
  if (m_is_gone) return;
  const team_sizes::state state = the_team_sizes.now();
  if (state != team_sizes::state::free && (m_subject || state != team_sizes::state::unknown)) {
    m_is_gone = true;
    m_watch.leave();
    leave_share();
    if (!m_subject) return;
    m_registry.withdraw(now, *m_subject);
    return;
  }
  if (state == team_sizes::state::unknown) return;
  if (!m_subject) {
    appear(now);
    if (!m_subject) return;
    begin_window(now.time_s);
    if (const first_share share_found = taken_share(); share_found.others > 0) {
      m_windows = 1;
      m_figures = {{std::string(figures::others), static_cast<double>(share_found.others)},
                   {std::string(figures::registry_share), static_cast<double>(share_found.cpus)}};
    }
  }
  end_window(now.time_s);
  read_load(now.time_s);
  evaluate(now.time_s);
  tell(now);
}

void thread_steering::conclude() {
  m_watch.leave();
  leave_share();
  const auto report_unavailable = [](const char* reason, const char* remedy) {
    the_recorder.unavailable("other numbers of threads", reason, remedy);
  };
  if (the_team_sizes.now() == team_sizes::state::set_by_program)
    return report_unavailable("the program sets its number of threads itself (omp_set_num_threads)",
                              "let it leave that to OMP_NUM_THREADS, or --threads-even-if-fixed");
  if (the_team_sizes.now() == team_sizes::state::several_forkers)
    return report_unavailable("several of its threads begin parallel regions", "");
  if (!m_subject)
    return report_unavailable("no parallel region that leaves its number of threads open began",
                              m_options.includes_fixed ? "" : "--threads-even-if-fixed: num_threads clauses, too");
  if (!is_in_force() && the_team_sizes.is_promised())
    report_unavailable("the program was told its number of threads, and has not asked again since: it kept that",
                       "set OMP_NUM_THREADS before it starts");
}

}  // namespace trimtab::openmp

#include "trimtab/openmp/thread_steering.hpp"

#include <algorithm>

#include "steering/arrival_skew.hpp"
#include "steering/first_share.hpp"
#include "steering/team_evaluation.hpp"
#include "steering/team_sizes.hpp"
#include "steering/tried_teams.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/observe/wishes.hpp"
#include "trimtab/steer/fitting/figures.hpp"

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

std::atomic<std::uint32_t> barrier_members{0};
void set_barrier_members(std::uint32_t members) noexcept { barrier_members.store(members, std::memory_order_relaxed); }

// The first knob, or the one that a policy has besides.
template <void other(std::uint32_t) noexcept>
bool turn(std::uint32_t knob, knob_value to) {
  if (to < 0) return false;
  const auto members = static_cast<std::uint32_t>(to);
  if (knob != threads_knob)
    other(members);
  else
    the_team_sizes.want(members >= the_team_sizes.own() ? team_sizes::as_it_is : members);
  return true;
}

}  // namespace

thread_steering::thread_steering(steer::board& knobs, steer::decision_record& record, const thread_steering_options& options)
    : m_knobs(knobs),
      m_record(record),
      m_options(options),
      m_watch(options.allowed, options.registry, options.root),
      m_lanes(m_options.root.c_str()) {
  // One more than there are CPUs, so that what is fitted to the CPUs holds for every clause.
  if (options.includes_fixed) the_team_sizes.include_fixed(options.allowed.count() + 1);
  if (options.is_on) announce(options.registry, options.allowed);
  is_fitting_teams.store(true, std::memory_order_release);
}

void thread_steering::after_fork() noexcept {
  if (!is_fitting_teams.load(std::memory_order_relaxed)) return;
  evaluation_due.store(evaluation_kind::none, std::memory_order_relaxed);
  is_fitting_teams.store(the_team_sizes.leave_as_told(), std::memory_order_relaxed);
}

void thread_steering::appear(steer::snapshot& now) {
  const std::uint32_t id = the_recorder.named_subject(observe::subject_kind::mark, "threads of teams", "", 0);
  if (id == observe::no_subject) return;
  const auto own = static_cast<knob_value>(the_team_sizes.own());
  // Safe, since without consent there is no such subject.
  steer::subject_info info{id, "threads of teams", {}};
  info.knobs.push_back({std::string(steer::knobs::threads),
                        steer::certain(steer::domain::range(1, own)),
                        own,
                        change_cost_s,
                        steer::consent::safe,
                        0,
                        {}});
  const bool has_barrier = m_options.evaluates == thread_steering_options::evaluated::barrier;
  if (has_barrier || m_options.has_trials)
    info.knobs.push_back({std::string(has_barrier ? steer::knobs::barrier_members : steer::knobs::trial_members),
                          steer::certain(steer::domain::range(0, own)),
                          0,
                          0,
                          steer::consent::safe,
                          0,
                          {}});
  m_subject = id;
  m_record.add(info, "");
  m_knobs.add(info, has_barrier ? turn<set_barrier_members> : turn<try_members>);
  now.appeared.push_back(std::move(info));
}

// What the knob says is also what regions have: no promise is in the way.
bool thread_steering::is_in_force() const {
  if (!m_subject) return false;
  const std::vector<knob_value> values = m_knobs.values(*m_subject);
  return !values.empty() && static_cast<std::uint32_t>(values[threads_knob]) == the_team_sizes.latest();
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
  if (const auto since = m_lanes.since_last())
    m_delay_s = m_delay_s.value_or(0) + static_cast<double>(since->run_delay_ns) * 1e-9;
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
  const observe::wish its = observe::fitted_threads.load(std::memory_order_relaxed);
  return its == observe::wish::open ? m_options.is_on : its == observe::wish::on;
}

void thread_steering::evaluate(double now_s) {
  using evaluated = thread_steering_options::evaluated;
  if (!is_on()) return;
  if (m_options.evaluates == evaluated::nothing || now_s - m_evaluated_s < m_options.eval_time_s || !is_in_force()) return;
  m_evaluated_s = now_s;
  if (m_options.evaluates == evaluated::iterations)
    ask_for_evaluation(evaluation_kind::iterations, 0);
  else
    ask_for_evaluation(evaluation_kind::barrier, barrier_members.load(std::memory_order_relaxed));
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
  if (m_options.evaluates == thread_steering_options::evaluated::nothing) return;
  const evaluation latest = latest_evaluation();
  if (latest.number == 0) return;
  add(figures::evaluations, static_cast<double>(latest.number));
  if (m_options.evaluates == thread_steering_options::evaluated::iterations) {
    add(figures::iterations_spread, latest.spread);
  } else {
    add(figures::passage_seconds, latest.passage_s);
    add(figures::passage_members, latest.members);
  }
}

void thread_steering::add_to(steer::snapshot& now) {
  if (m_is_gone) return;
  const team_sizes::state state = the_team_sizes.now();
  if (state != team_sizes::state::free && (m_subject || state != team_sizes::state::unknown)) {
    m_is_gone = true;
    m_watch.leave();
    leave_share();
    if (!m_subject) return;
    m_knobs.remove(*m_subject);
    now.gone.push_back(*m_subject);
    return;
  }
  if (state == team_sizes::state::unknown) return;
  if (!m_subject) {
    appear(now);
    if (!m_subject) return;
    begin_window(now.time_s);
    if (const first_share its = taken_share(); its.others > 0) {
      m_windows = 1;
      m_figures = {{std::string(figures::others), static_cast<double>(its.others)},
                   {std::string(figures::registry_share), static_cast<double>(its.cpus)}};
    }
  }
  end_window(now.time_s);
  evaluate(now.time_s);
  tell(now);
}

void thread_steering::conclude() {
  m_watch.leave();
  leave_share();
  const auto tell = [](const char* why, const char* remedy) {
    the_recorder.unavailable("other numbers of threads", why, remedy);
  };
  if (the_team_sizes.now() == team_sizes::state::set_by_program)
    return tell("the program sets its number of threads itself (omp_set_num_threads)",
                "let it leave that to OMP_NUM_THREADS, or --threads-even-if-fixed");
  if (the_team_sizes.now() == team_sizes::state::several_forkers)
    return tell("several of its threads begin parallel regions", "");
  if (!m_subject)
    return tell("no parallel region that leaves its number of threads open began",
                m_options.includes_fixed ? "" : "--threads-even-if-fixed: num_threads clauses, too");
  if (!is_in_force() && the_team_sizes.is_promised())
    tell("the program was told its number of threads, and has not asked again since: it kept that",
         "set OMP_NUM_THREADS before it starts");
}

}  // namespace trimtab::openmp

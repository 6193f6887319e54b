// What programs do on the machine, and what is measured of them.
#include <algorithm>
#include <utility>

#include "machine_jobs.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer::testing {

namespace {
constexpr double barrier_s = 1e-6;  // of a member
constexpr double slow_s = 2e-3;
constexpr team_trial_options trial_ns{.least_block = 1'000'000, .most_block = 10'000'000};
}  // namespace

void machine::begin(job& its) {
  its.is_running = true;
  its.evaluated_s = its.time_s = its.window_began_s = m_time_s;
  its.idle_before_s = m_idle_s;
  begin_region(its);
}

void machine::end(job& its) {
  its.is_running = its.is_member = false;
  its.seen.done_s = m_time_s;
  for (thread& each : its.threads) sleep(each);
}

void machine::begin_region(job& its) {
  const program_options& as = its.seen.options;
  its.region_began_s = m_time_s;
  its.first_there_s.reset();
  if (as.is_serial) {
    its.threads.front().left_s = never;
    wake(its.threads.front());
    return;
  }
  // Once the time has come, one between two regions.
  its.is_barrier = !its.is_barrier && its.steering && m_time_s - its.evaluated_s >= as.eval_time_s;
  auto team = static_cast<std::size_t>(its.seen.threads);
  if (its.trial_members != 0 && !its.trial.is_over()) {
    if (its.trial.begin_region(static_cast<std::uint64_t>(its.time_s * 1e9)))
      team = static_cast<std::size_t>(its.trial_members);
    its.trials_over += its.trial.is_over();
  }
  its.members = its.is_barrier ? std::max(team, static_cast<std::size_t>(its.barrier_members)) : team;
  for (std::size_t i = 0; i < its.threads.size(); ++i) {
    thread& each = its.threads[i];
    each.is_there = false;
    each.left_s = its.is_barrier ? barrier_s : as.grain_s / static_cast<double>(its.members) + as.join_s;
    if (i > 0) each.left_s += as.wake_s;
    if (i < its.members)
      wake(each);
    else
      sleep(each);
  }
}

// What its members do with this tick: work those who are on a CPU; wait those who are at the end.
void machine::advance(job& its) {
  const program_options& as = its.seen.options;
  const double dt = m_options.tick_s;
  if (as.is_serial) {
    if (its.threads.front().is_on) its.seen.worked_s += dt;
    return;
  }
  const auto team_end = its.threads.begin() + static_cast<std::ptrdiff_t>(its.members);
  const bool all_on = std::all_of(its.threads.begin(), team_end, [](const thread& each) { return each.is_on; });
  double rest = dt;
  while (true) {
    double longest = 0;
    bool all_there = true;
    for (auto each = its.threads.begin(); each != team_end; ++each) {
      if (!each->is_there && each->is_on) {
        const double part = std::min(each->left_s, rest);
        each->left_s -= part;
        longest = std::max(longest, part);
        each->is_there = each->left_s <= 0;
        if (each->is_there && !its.first_there_s) its.first_there_s = m_time_s;
      } else if (each->is_there && each->is_on && !its.is_barrier) {
        if (as.waits == at_barrier::yields) yield(*each);
        if (as.waits == at_barrier::sleeps) sleep(*each);
      }
      all_there = all_there && each->is_there;
    }
    rest -= longest;
    if (!all_there) return;
    const double took = m_time_s - its.region_began_s, skew = m_time_s - *its.first_there_s;
    if (its.is_barrier) {
      its.evaluations += 1;
      its.passage_s = skew + barrier_s;
      its.passage_members = its.members;
      its.evaluated_s = m_time_s;
    } else {
      its.seen.regions += 1;
      its.seen.worked_s += as.grain_s;
      its.skew_s = std::max(its.skew_s, skew);
      if (took > std::max(slow_s, 2 * as.grain_s / static_cast<double>(its.members)))
        its.seen.slow.emplace_back(its.region_began_s, took);
    }
    const std::size_t members = its.members;
    its.time_s = m_time_s - std::max(rest, 0.0);
    begin_region(its);
    if (as.waits == at_barrier::yields && members > 1)
      for (std::size_t i = 0; i < its.members; ++i) yield(its.threads[i]);
    // Who are all on a CPU begin the next region within the tick.
    if (!all_on || its.members != members || rest <= 0) return;
  }
}

double machine::share_of(job& its, double idle) {
  std::vector<observe::cpu_member> members;
  std::size_t me = 0;
  for (const auto& running_job : m_jobs) {
    if (!running_job->is_member) continue;
    if (running_job.get() == &its) me = members.size();
    members.push_back(running_job->record);
  }
  return observe::share_of(members, me, observe::cpus_to_share(members, me, m_options.cpus, idle));
}

std::vector<figure> machine::figures_of(job& its) {
  const double window = m_time_s - std::exchange(its.window_began_s, m_time_s);
  const double idle = (m_idle_s - std::exchange(its.idle_before_s, m_idle_s)) / window;
  std::vector<figure> told;
  const auto add = [&](std::string_view name, double value) { told.push_back({std::string(name), value}); };
  double delay = 0;
  for (thread& each : its.threads) delay += std::exchange(each.delay_s, 0);
  its.windows += 1;
  add(figures::windows, its.windows);
  add(figures::allowed_cpus, m_options.cpus);
  add(figures::quota_cpus, its.seen.options.quota_cpus);
  add(figures::idle_cpus, idle);
  add(figures::run_delay_share, delay / (window * static_cast<double>(its.members)));
  add(figures::throttled_share, its.throttled_s / window);
  add(figures::skew_seconds, its.skew_s);
  if (const auto regions = its.seen.regions - std::exchange(its.regions_told, its.seen.regions); regions > 0)
    add(figures::region_seconds, window / static_cast<double>(regions));
  if (its.trials_over > 0) {
    add(figures::team_trials, its.trials_over);
    add(figures::trial_ratio, its.trial.ratio());
  }
  if (its.evaluations > 0) {
    add(figures::evaluations, static_cast<double>(its.evaluations));
    add(figures::passage_seconds, its.passage_s);
    add(figures::passage_members, static_cast<double>(its.passage_members));
    // As published: 70 +- 30 with a CPU for each, 900 +- 125 otherwise.
    const double spread = its.passage_s > 1e-3 ? 900 + 250 * (m_random.share() - 0.5) : 70 + 60 * (m_random.share() - 0.5);
    add(figures::iterations_spread, spread);
  }
  if (m_options.has_registry) {
    const auto wanted = static_cast<std::uint32_t>(its.threads.size());
    its.record.start = its.record.pid = its.number + 1;
    its.record.wanted = wanted;
    its.record.used = its.is_member ? its.used_s / window : wanted;
    its.is_member = true;
    const auto all = std::count_if(m_jobs.begin(), m_jobs.end(), [](const auto& each) { return each->is_member; });
    add(figures::others, static_cast<double>(all - 1));
    add(figures::registry_share, share_of(its, idle));
  }
  its.skew_s = its.used_s = its.throttled_s = 0;
  return told;
}

void machine::look(job& its) {
  const double so_far = m_time_s - its.window_began_s;
  double delay = 0;
  for (const thread& each : its.threads) delay += each.delay_s;
  if (so_far >= m_options.window_s - 1e-9 || (m_options.tells_sooner && has_lost_enough(delay, so_far, m_options.window_s)))
    tell(its);
}

void machine::tell(job& its) {
  if (!its.steering) {
    its.used_s = 0;
    its.window_began_s = m_time_s;
    return;
  }
  snapshot now;
  now.time_s = m_time_s;
  const auto most = static_cast<knob_value>(its.threads.size());
  if (!std::exchange(its.has_appeared, true)) {
    const knob threads{std::string(knobs::threads), *domain::range(1, most), most, 0, consent::safe, 0, {}};
    const knob barrier{std::string(knobs::barrier_members), *domain::range(0, most), 0, 0, consent::safe, 0, {}};
    const knob trial{std::string(knobs::trial_members), *domain::range(0, most), 0, 0, consent::safe, 0, {}};
    now.appeared = {{1, "process", {threads, barrier, trial}}};
  }
  now.figures = figures_of(its);
  for (const decision& made : its.steering->step(now)) {
    its.seen.decisions.push_back(made);
    for (const change& each : made.changes) {
      knob_value* const turned[] = {&its.seen.threads, &its.barrier_members, &its.trial_members};
      *turned[each.knob] = each.to;
      if (each.knob == 2 && each.to != 0) its.trial = team_trial(trial_ns);
    }
  }
}

}  // namespace trimtab::steer::testing

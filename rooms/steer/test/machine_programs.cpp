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

void machine::begin(job& process_job) {
  process_job.is_running = true;
  process_job.evaluated_s = process_job.time_s = process_job.window_began_s = m_time_s;
  process_job.idle_before_s = m_idle_s;
  begin_region(process_job);
}

void machine::end(job& process_job) {
  process_job.is_running = process_job.is_member = false;
  process_job.seen.done_s = m_time_s;
  for (thread& each : process_job.threads) sleep(each);
}

void machine::begin_region(job& process_job) {
  const program_options& options = process_job.seen.options;
  process_job.region_began_s = m_time_s;
  process_job.first_there_s.reset();
  if (options.is_serial) {
    process_job.threads.front().left_s = never;
    wake(process_job.threads.front());
    return;
  }
  // Once the time has come, one between two regions.
  process_job.is_barrier =
      !process_job.is_barrier && process_job.steering && m_time_s - process_job.evaluated_s >= options.eval_time_s;
  auto team = static_cast<std::size_t>(process_job.seen.threads);
  if (process_job.trial_members != 0 && !process_job.trial.is_over()) {
    if (process_job.trial.begin_region(static_cast<std::uint64_t>(process_job.time_s * 1e9)))
      team = static_cast<std::size_t>(process_job.trial_members);
    process_job.trials_over += process_job.trial.is_over();
  }
  process_job.members =
      process_job.is_barrier ? std::max(team, static_cast<std::size_t>(process_job.barrier_members)) : team;
  for (std::size_t i = 0; i < process_job.threads.size(); ++i) {
    thread& member_thread = process_job.threads[i];
    member_thread.is_there = false;
    member_thread.left_s =
        process_job.is_barrier ? barrier_s : options.grain_s / static_cast<double>(process_job.members) + options.join_s;
    if (i > 0) member_thread.left_s += options.wake_s;
    if (i < process_job.members)
      wake(member_thread);
    else
      sleep(member_thread);
  }
}

// What its members do with this tick: work those who are on a CPU; wait those who are at the end.
void machine::advance(job& process_job) {
  const program_options& options = process_job.seen.options;
  const double dt = m_options.tick_s;
  if (options.is_serial) {
    if (process_job.threads.front().is_on) process_job.seen.worked_s += dt;
    return;
  }
  const auto team_end = process_job.threads.begin() + static_cast<std::ptrdiff_t>(process_job.members);
  const bool have_all_cpus =
      std::all_of(process_job.threads.begin(), team_end, [](const thread& member_thread) { return member_thread.is_on; });
  double rest = dt;
  while (true) {
    double longest = 0;
    bool have_all_arrived = true;
    for (auto member_thread = process_job.threads.begin(); member_thread != team_end; ++member_thread) {
      if (!member_thread->is_there && member_thread->is_on) {
        const double part = std::min(member_thread->left_s, rest);
        member_thread->left_s -= part;
        longest = std::max(longest, part);
        member_thread->is_there = member_thread->left_s <= 0;
        if (member_thread->is_there && !process_job.first_there_s) process_job.first_there_s = m_time_s;
      } else if (member_thread->is_there && member_thread->is_on && !process_job.is_barrier) {
        if (options.waits == at_barrier::yields) yield(*member_thread);
        if (options.waits == at_barrier::sleeps) sleep(*member_thread);
      }
      have_all_arrived = have_all_arrived && member_thread->is_there;
    }
    rest -= longest;
    if (!have_all_arrived) return;
    const double took = m_time_s - process_job.region_began_s, skew = m_time_s - *process_job.first_there_s;
    if (process_job.is_barrier) {
      process_job.evaluations += 1;
      process_job.passage_s = skew + barrier_s;
      process_job.passage_members = process_job.members;
      process_job.evaluated_s = m_time_s;
    } else {
      process_job.seen.regions += 1;
      process_job.seen.worked_s += options.grain_s;
      process_job.skew_s = std::max(process_job.skew_s, skew);
      if (took > std::max(slow_s, 2 * options.grain_s / static_cast<double>(process_job.members)))
        process_job.seen.slow.emplace_back(process_job.region_began_s, took);
    }
    const std::size_t members = process_job.members;
    process_job.time_s = m_time_s - std::max(rest, 0.0);
    begin_region(process_job);
    if (options.waits == at_barrier::yields && members > 1)
      for (std::size_t i = 0; i < process_job.members; ++i) yield(process_job.threads[i]);
    // Who are all on a CPU begin the next region within the tick.
    if (!have_all_cpus || process_job.members != members || rest <= 0) return;
  }
}

double machine::share_of(job& process_job, double idle) {
  std::vector<observe::cpu_member> members;
  std::size_t own_place = 0;
  for (const auto& running_job : m_jobs) {
    if (!running_job->is_member) continue;
    if (running_job.get() == &process_job) own_place = members.size();
    members.push_back(running_job->record);
  }
  return observe::share_of(members, own_place, observe::cpus_to_share(members, own_place, m_options.cpus, idle));
}

std::vector<figure> machine::figures_of(job& process_job) {
  const double window = m_time_s - std::exchange(process_job.window_began_s, m_time_s);
  const double idle = (m_idle_s - std::exchange(process_job.idle_before_s, m_idle_s)) / window;
  std::vector<figure> figures_reported;
  const auto add = [&](std::string_view name, double value) { figures_reported.push_back({std::string(name), value}); };
  double delay = 0;
  for (thread& each : process_job.threads) delay += std::exchange(each.delay_s, 0);
  process_job.windows += 1;
  add(figures::windows, process_job.windows);
  add(figures::allowed_cpus, m_options.cpus);
  add(figures::quota_cpus, process_job.seen.options.quota_cpus);
  add(figures::idle_cpus, idle);
  add(figures::run_delay_share, delay / (window * static_cast<double>(process_job.members)));
  add(figures::throttled_share, process_job.throttled_s / window);
  add(figures::skew_seconds, process_job.skew_s);
  if (const auto regions = process_job.seen.regions - std::exchange(process_job.regions_told, process_job.seen.regions);
      regions > 0)
    add(figures::region_seconds, window / static_cast<double>(regions));
  if (process_job.trials_over > 0) {
    add(figures::team_trials, process_job.trials_over);
    add(figures::trial_ratio, process_job.trial.ratio());
  }
  if (process_job.evaluations > 0) {
    add(figures::evaluations, static_cast<double>(process_job.evaluations));
    add(figures::passage_seconds, process_job.passage_s);
    add(figures::passage_members, static_cast<double>(process_job.passage_members));
    // As published: 70 +- 30 with a CPU for each, 900 +- 125 otherwise.
    const double spread =
        process_job.passage_s > 1e-3 ? 900 + 250 * (m_random.share() - 0.5) : 70 + 60 * (m_random.share() - 0.5);
    add(figures::iterations_spread, spread);
  }
  if (m_options.has_registry) {
    const auto wanted = static_cast<std::uint32_t>(process_job.threads.size());
    process_job.record.start = process_job.record.pid = process_job.number + 1;
    process_job.record.wanted = wanted;
    process_job.record.used = process_job.is_member ? process_job.used_s / window : wanted;
    process_job.is_member = true;
    const auto all = std::count_if(m_jobs.begin(), m_jobs.end(), [](const auto& candidate) { return candidate->is_member; });
    add(figures::others, static_cast<double>(all - 1));
    add(figures::registry_share, share_of(process_job, idle));
  }
  process_job.skew_s = process_job.used_s = process_job.throttled_s = 0;
  return figures_reported;
}

void machine::look(job& process_job) {
  const double so_far = m_time_s - process_job.window_began_s;
  double delay = 0;
  for (const thread& member_thread : process_job.threads) delay += member_thread.delay_s;
  if (so_far >= m_options.window_s - 1e-9 || (m_options.tells_sooner && has_lost_enough(delay, so_far, m_options.window_s)))
    tell(process_job);
}

void machine::tell(job& process_job) {
  if (!process_job.steering) {
    process_job.used_s = 0;
    process_job.window_began_s = m_time_s;
    return;
  }
  snapshot now;
  now.time_s = m_time_s;
  const auto largest = static_cast<knob_value>(process_job.threads.size());
  if (!std::exchange(process_job.has_appeared, true)) {
    const knob threads{std::string(knobs::threads), *domain::range(1, largest), largest, 0, consent::safe, 0, {}};
    const knob barrier{std::string(knobs::barrier_members), *domain::range(0, largest), 0, 0, consent::safe, 0, {}};
    const knob trial{std::string(knobs::trial_members), *domain::range(0, largest), 0, 0, consent::safe, 0, {}};
    now.appeared = {{1, "process", {threads, barrier, trial}}};
  }
  now.figures = figures_of(process_job);
  for (const decision& decision_made : process_job.steering->step(now)) {
    process_job.seen.decisions.push_back(decision_made);
    for (const change& change : decision_made.changes) {
      knob_value* const turned[] = {&process_job.seen.threads, &process_job.barrier_members, &process_job.trial_members};
      *turned[change.knob] = change.to;
      if (change.knob == 2 && change.to != 0) process_job.trial = team_trial(trial_ns);
    }
  }
}

}  // namespace trimtab::steer::testing

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

void machine::begin(job& job_now) {
  job_now.is_running = true;
  job_now.evaluated_s = job_now.time_s = job_now.window_began_s = m_time_s;
  job_now.idle_before_s = m_idle_s;
  begin_region(job_now);
}

void machine::end(job& job_now) {
  job_now.is_running = job_now.is_member = false;
  job_now.seen.done_s = m_time_s;
  for (thread& each : job_now.threads) sleep(each);
}

void machine::begin_region(job& job_now) {
  const program_options& options = job_now.seen.options;
  job_now.region_began_s = m_time_s;
  job_now.first_there_s.reset();
  if (options.is_serial) {
    job_now.threads.front().left_s = never;
    wake(job_now.threads.front());
    return;
  }
  // Once the time has come, one between two regions.
  job_now.is_barrier = !job_now.is_barrier && job_now.steering && m_time_s - job_now.evaluated_s >= options.eval_time_s;
  auto team = static_cast<std::size_t>(job_now.seen.threads);
  if (job_now.trial_members != 0 && !job_now.trial.is_over()) {
    if (job_now.trial.begin_region(static_cast<std::uint64_t>(job_now.time_s * 1e9)))
      team = static_cast<std::size_t>(job_now.trial_members);
    job_now.trials_over += job_now.trial.is_over();
  }
  job_now.members = job_now.is_barrier ? std::max(team, static_cast<std::size_t>(job_now.barrier_members)) : team;
  for (std::size_t i = 0; i < job_now.threads.size(); ++i) {
    thread& member_thread = job_now.threads[i];
    member_thread.is_there = false;
    member_thread.left_s =
        job_now.is_barrier ? barrier_s : options.grain_s / static_cast<double>(job_now.members) + options.join_s;
    if (i > 0) member_thread.left_s += options.wake_s;
    if (i < job_now.members)
      wake(member_thread);
    else
      sleep(member_thread);
  }
}

// What its members do with this tick: work those who are on a CPU; wait those who are at the end.
void machine::advance(job& job_now) {
  const program_options& options = job_now.seen.options;
  const double dt = m_options.tick_s;
  if (options.is_serial) {
    if (job_now.threads.front().is_on) job_now.seen.worked_s += dt;
    return;
  }
  const auto team_end = job_now.threads.begin() + static_cast<std::ptrdiff_t>(job_now.members);
  const bool have_all_cpus =
      std::all_of(job_now.threads.begin(), team_end, [](const thread& member_thread) { return member_thread.is_on; });
  double rest = dt;
  while (true) {
    double longest = 0;
    bool have_all_arrived = true;
    for (auto member_thread = job_now.threads.begin(); member_thread != team_end; ++member_thread) {
      if (!member_thread->is_there && member_thread->is_on) {
        const double part = std::min(member_thread->left_s, rest);
        member_thread->left_s -= part;
        longest = std::max(longest, part);
        member_thread->is_there = member_thread->left_s <= 0;
        if (member_thread->is_there && !job_now.first_there_s) job_now.first_there_s = m_time_s;
      } else if (member_thread->is_there && member_thread->is_on && !job_now.is_barrier) {
        if (options.waits == at_barrier::yields) yield(*member_thread);
        if (options.waits == at_barrier::sleeps) sleep(*member_thread);
      }
      have_all_arrived = have_all_arrived && member_thread->is_there;
    }
    rest -= longest;
    if (!have_all_arrived) return;
    const double took = m_time_s - job_now.region_began_s, skew = m_time_s - *job_now.first_there_s;
    if (job_now.is_barrier) {
      job_now.evaluations += 1;
      job_now.passage_s = skew + barrier_s;
      job_now.passage_members = job_now.members;
      job_now.evaluated_s = m_time_s;
    } else {
      job_now.seen.regions += 1;
      job_now.seen.worked_s += options.grain_s;
      job_now.skew_s = std::max(job_now.skew_s, skew);
      if (took > std::max(slow_s, 2 * options.grain_s / static_cast<double>(job_now.members)))
        job_now.seen.slow.emplace_back(job_now.region_began_s, took);
    }
    const std::size_t members = job_now.members;
    job_now.time_s = m_time_s - std::max(rest, 0.0);
    begin_region(job_now);
    if (options.waits == at_barrier::yields && members > 1)
      for (std::size_t i = 0; i < job_now.members; ++i) yield(job_now.threads[i]);
    // Who are all on a CPU begin the next region within the tick.
    if (!have_all_cpus || job_now.members != members || rest <= 0) return;
  }
}

double machine::share_of(job& job_now, double idle) {
  std::vector<observe::cpu_member> members;
  std::size_t own_place = 0;
  for (const auto& running_job : m_jobs) {
    if (!running_job->is_member) continue;
    if (running_job.get() == &job_now) own_place = members.size();
    members.push_back(running_job->record);
  }
  return observe::share_of(members, own_place, observe::cpus_to_share(members, own_place, m_options.cpus, idle));
}

std::vector<figure> machine::figures_of(job& job_now) {
  const double window = m_time_s - std::exchange(job_now.window_began_s, m_time_s);
  const double idle = (m_idle_s - std::exchange(job_now.idle_before_s, m_idle_s)) / window;
  std::vector<figure> figures_reported;
  const auto add = [&](std::string_view name, double value) { figures_reported.push_back({std::string(name), value}); };
  double delay = 0;
  for (thread& each : job_now.threads) delay += std::exchange(each.delay_s, 0);
  job_now.windows += 1;
  add(figures::windows, job_now.windows);
  add(figures::allowed_cpus, m_options.cpus);
  add(figures::quota_cpus, job_now.seen.options.quota_cpus);
  add(figures::idle_cpus, idle);
  add(figures::run_delay_share, delay / (window * static_cast<double>(job_now.members)));
  add(figures::throttled_share, job_now.throttled_s / window);
  add(figures::skew_seconds, job_now.skew_s);
  if (const auto regions = job_now.seen.regions - std::exchange(job_now.regions_told, job_now.seen.regions); regions > 0)
    add(figures::region_seconds, window / static_cast<double>(regions));
  if (job_now.trials_over > 0) {
    add(figures::team_trials, job_now.trials_over);
    add(figures::trial_ratio, job_now.trial.ratio());
  }
  if (job_now.evaluations > 0) {
    add(figures::evaluations, static_cast<double>(job_now.evaluations));
    add(figures::passage_seconds, job_now.passage_s);
    add(figures::passage_members, static_cast<double>(job_now.passage_members));
    // As published: 70 +- 30 with a CPU for each, 900 +- 125 otherwise.
    const double spread =
        job_now.passage_s > 1e-3 ? 900 + 250 * (m_random.share() - 0.5) : 70 + 60 * (m_random.share() - 0.5);
    add(figures::iterations_spread, spread);
  }
  if (m_options.has_registry) {
    const auto wanted = static_cast<std::uint32_t>(job_now.threads.size());
    job_now.record.start = job_now.record.pid = job_now.number + 1;
    job_now.record.wanted = wanted;
    job_now.record.used = job_now.is_member ? job_now.used_s / window : wanted;
    job_now.is_member = true;
    const auto all = std::count_if(m_jobs.begin(), m_jobs.end(), [](const auto& candidate) { return candidate->is_member; });
    add(figures::others, static_cast<double>(all - 1));
    add(figures::registry_share, share_of(job_now, idle));
  }
  job_now.skew_s = job_now.used_s = job_now.throttled_s = 0;
  return figures_reported;
}

void machine::look(job& job_now) {
  const double so_far = m_time_s - job_now.window_began_s;
  double delay = 0;
  for (const thread& member_thread : job_now.threads) delay += member_thread.delay_s;
  if (so_far >= m_options.window_s - 1e-9 || (m_options.tells_sooner && has_lost_enough(delay, so_far, m_options.window_s)))
    tell(job_now);
}

void machine::tell(job& job_now) {
  if (!job_now.steering) {
    job_now.used_s = 0;
    job_now.window_began_s = m_time_s;
    return;
  }
  snapshot now;
  now.time_s = m_time_s;
  const auto largest = static_cast<knob_value>(job_now.threads.size());
  if (!std::exchange(job_now.has_appeared, true)) {
    const knob threads{std::string(knobs::threads), *domain::range(1, largest), largest, 0, consent::safe, 0, {}};
    const knob barrier{std::string(knobs::barrier_members), *domain::range(0, largest), 0, 0, consent::safe, 0, {}};
    const knob trial{std::string(knobs::trial_members), *domain::range(0, largest), 0, 0, consent::safe, 0, {}};
    now.appeared = {{1, "process", {threads, barrier, trial}}};
  }
  now.figures = figures_of(job_now);
  for (const decision& decision_made : job_now.steering->step(now)) {
    job_now.seen.decisions.push_back(decision_made);
    for (const change& change : decision_made.changes) {
      knob_value* const turned[] = {&job_now.seen.threads, &job_now.barrier_members, &job_now.trial_members};
      *turned[change.knob] = change.to;
      if (change.knob == 2 && change.to != 0) job_now.trial = team_trial(trial_ns);
    }
  }
}

}  // namespace trimtab::steer::testing

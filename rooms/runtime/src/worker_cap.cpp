#include "worker_cap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::task_steering {

namespace {

// Of a measurement: enough tasks for their lengths to even out, or enough time.
constexpr double enough_tasks = 32, enough_s = 0.25;
// Loops and steps are joined until they are so long.
constexpr double least_told_s = 0.01;
// Waking or parking the workers between two caps.
constexpr double change_cost_s = 1e-4;
// The first look around under a cap comes before any search, and before the rule that tells it where to begin.
constexpr double first_around_s = 0.02, around_s = 0.1;
constexpr std::size_t most_told = 1024;

// Of a count that another thread writes.
double grown(std::uint64_t from, std::uint64_t to) noexcept { return to > from ? static_cast<double>(to - from) : 0; }

steer::subject_info describe(const tasks::runtime& owner_runtime, steer::subject_id id, std::string name) {
  const auto workers = static_cast<steer::knob_value>(owner_runtime.workers());
  const auto fitting = std::clamp<steer::knob_value>(tasks::runtime::available_cpus(), 1, workers);
  steer::knob cap{std::string(worker_cap::knob),
                  steer::certain(steer::domain::range(1, workers)),
                  static_cast<steer::knob_value>(owner_runtime.active_workers()),
                  change_cost_s,
                  steer::consent::safe,
                  1,
                  {}};
  cap.remedies.push_back(
      {std::string(steer::causes::oversubscription), {fitting, std::max<steer::knob_value>(1, fitting / 2)}});
  return {id, std::move(name), {std::move(cap)}};
}

}  // namespace

work_done done_between(const tasks::snapshot& before, const tasks::snapshot& now) {
  const double tick_s = now.ns_per_tick * 1e-9;
  work_done work;
  work.elapsed_s = static_cast<double>(now.at - before.at) * tick_s;
  for (std::size_t i = 0; i < now.workers.size(); ++i) {
    const double busy_s = grown(i < before.workers.size() ? before.workers[i].busy : 0, now.workers[i].busy) * tick_s;
    work.busy_s += busy_s;
    work.most_busy_s = std::max(work.most_busy_s, busy_s);
  }
  const auto begun = [](const tasks::snapshot& counts) { return counts.total.in_place + counts.total.started; };
  work.tasks = begun(now) - std::min(begun(now), begun(before));
  return work;
}

double work_share(const work_done& work) noexcept {
  if (work.elapsed_s <= 0) return 0;
  const double busiest = work.most_busy_s / work.elapsed_s;
  return std::min(1.0, busiest >= 0.5 ? busiest : work.busy_s / work.elapsed_s);
}

std::optional<steer::measurement> work_window::add(const work_done& work, steer::decision_number decision_number,
                                                   const cost_meter& costs, double shortest_s) noexcept {
  if (decision_number != m_under) forget();
  m_under = decision_number;
  const double share = work_share(work);
  if (share < worker_cap::least_work) return std::nullopt;
  m_used += {work.elapsed_s * share, work.joules * share};
  m_tasks += static_cast<double>(work.tasks);
  if (m_used.seconds < std::max(costs.shortest_s(), shortest_s)) return std::nullopt;
  if (m_tasks < enough_tasks && (m_used.seconds < enough_s || m_tasks < 1)) return std::nullopt;
  const steer::measurement measurement{decision_number, costs.cost_of_unit(m_used, m_tasks), m_used.seconds};
  forget();
  return measurement;
}

worker_cap::worker_cap(tasks::runtime& owner_runtime, steer::subject_id id, std::string name, const energy_source& energy_j,
                       tuning_objective objective)
    : m_of(owner_runtime),
      m_info(describe(owner_runtime, id, std::move(name))),
      m_cpus(tasks::runtime::available_cpus()),
      m_cap(owner_runtime.active_workers()),
      m_power(energy_j),
      m_costs(objective, energy_j),
      m_joules_before(m_costs.joules()),
      m_first(owner_runtime),
      m_before(m_first),
      m_around{m_cap, {}, {}, {}, 0, 0} {
  m_around.first = m_around.before = read_times(m_first);
}

bool worker_cap::turn(steer::knob_value to) {
  if (is_taken_over() || to < 1 || to > static_cast<steer::knob_value>(m_of.workers())) return false;
  m_cap.store(static_cast<std::uint32_t>(to), std::memory_order_relaxed);
  m_of.set_active_workers(static_cast<std::uint32_t>(to));
  return true;
}

void worker_cap::ran(steer::decision_number decision_number, double seconds, double ratio) noexcept {
  if (!(seconds > 0) || !std::isfinite(ratio) || decision_number != this->under()) return;
  const std::lock_guard guard(m_lock);
  m_told_s += seconds;
  if (m_joined.under != decision_number) m_joined = {decision_number, 0, 0};
  m_joined.value += ratio * seconds;
  m_joined.seconds += seconds;
  if (m_joined.seconds < std::max(least_told_s, m_costs.shortest_s()) || m_told.size() >= most_told) return;
  m_joined.value /= m_joined.seconds;
  m_told.push_back(m_joined);
  m_joined = {decision_number, 0, 0};
}

steer::subject_state worker_cap::look() {
  tasks::snapshot now(m_of);
  work_done work = done_between(m_before, now);
  const double joules = m_costs.joules();
  work.joules = joules - std::exchange(m_joules_before, joules);
  steer::subject_state state{m_info.id, {}, {}};
  const std::optional<steer::measurement> of_tasks = m_window.add(work, under(), m_costs);
  m_work_s += work.elapsed_s * work_share(work);
  {
    const std::lock_guard guard(m_lock);
    // Where most of the work is told, tasks would only disturb: a loop makes as many as there are who are free.
    if (m_told_s > m_work_s / 2)
      state.measured = m_told;
    else if (of_tasks)
      state.measured.push_back(*of_tasks);
    m_told.clear();
  }
  const auto add_figure = [&](std::string_view name, double value) { state.figures.push_back({std::string(name), value}); };
  add_figure(steer::figures::queue_length, static_cast<double>(now.total.queued));
  add_figure(steer::figures::work_share, work_share(work));
  if (work.elapsed_s > 0) {
    add_figure(steer::figures::tasks_per_s, static_cast<double>(work.tasks) / work.elapsed_s);
    const double usable_s = std::min(m_cpus, static_cast<double>(m_cap.load())) * work.elapsed_s;
    add_figure(steer::figures::idle_share, std::clamp(1 - work.busy_s / usable_s, 0.0, 1.0));
  }
  add_figure(steer::figures::cpus, m_cpus);
  // Whether tasks are too small; between activations lies what managing one costs.
  const std::uint64_t timed = now.total.timed - std::min(now.total.timed, m_before.total.timed);
  if (timed > 0 && work.tasks > 0) {
    const std::uint64_t gap = now.total.gap_ticks - std::min(now.total.gap_ticks, m_before.total.gap_ticks);
    add_figure(steer::figures::instance_seconds, work.busy_s / static_cast<double>(work.tasks));
    add_figure(steer::figures::overhead_seconds,
               static_cast<double>(gap) / static_cast<double>(timed) * now.ns_per_tick * 1e-9);
  }
  look_around(state.figures, now);
  m_before = std::move(now);
  return state;
}

worker_cap::times worker_cap::read_times(const tasks::snapshot& now) {
  return {now.at, now.total.busy, now.total.looking, observe::read_process_times("").value_or(observe::thread_times{})};
}

// What costs more to read, seldom; of one cap, from the second look at it on: those who are parked have waited until then.
void worker_cap::look_around(std::vector<steer::figure>& figures, const tasks::snapshot& now) {
  const std::uint32_t cap = m_cap.load();
  const auto seconds = [tick_s = now.ns_per_tick * 1e-9](base::ticks from, base::ticks to) {
    return grown(from, to) * tick_s;
  };
  const auto more_s = [](std::uint64_t before_ns, std::uint64_t now_ns) { return grown(before_ns, now_ns) * 1e-9; };
  if (cap != m_around.cap) {
    m_around = {cap, {}, {}, {}, 0, 0};
  } else if (!m_around.first) {
    m_around.first = m_around.before = read_times(now);
  } else if (const double since_s = seconds(m_around.before.at, now.at);
             since_s >= (m_around.delay_share ? around_s : first_around_s)) {
    const times times_now = read_times(now), times_before = std::exchange(m_around.before, times_now),
                &first = *m_around.first;
    const double delay_s = more_s(times_before.of_threads.run_delay_ns, times_now.of_threads.run_delay_ns);
    m_around.delay_share = std::min(1.0, delay_s / (since_s * static_cast<double>(cap)));
    // Of all that time: who waits for a CPU is counted when he has got it, which in a short time is too much or too little.
    const double had_s = more_s(first.of_threads.run_ns, times_now.of_threads.run_ns);
    const double busy_s = seconds(first.busy, times_now.busy);
    const double not_waited_s = busy_s + seconds(first.looking, times_now.looking) -
                                more_s(first.of_threads.run_delay_ns, times_now.of_threads.run_delay_ns);
    m_around.cpu_share = not_waited_s > had_s ? had_s / not_waited_s : 1;
    m_around.workless_share = std::max(0.0, 1 - busy_s / (seconds(first.at, times_now.at) * static_cast<double>(cap)));
  }
  const auto add_figure = [&](std::string_view name, double value) { figures.push_back({std::string(name), value}); };
  if (m_around.delay_share) {
    add_figure(steer::figures::run_delay_share, *m_around.delay_share);
    add_figure(steer::figures::cpu_share, m_around.cpu_share);
    add_figure(steer::figures::workless_share, m_around.workless_share);
  }
  if (const std::optional<double> watts = m_power.watts()) add_figure(steer::figures::watts, *watts);
}

bool worker_cap::is_mostly_told() const {
  const std::lock_guard guard(m_lock);
  return m_told_s > m_work_s / 2;
}

std::vector<steer::figure> worker_cap::summary() const { return figures_of_life(m_of, m_first); }

std::vector<steer::figure> figures_of_life(const tasks::runtime& owner_runtime, const tasks::snapshot& first) {
  const tasks::snapshot now(owner_runtime);
  const work_done work = done_between(first, now);
  const double workers = owner_runtime.workers(), tasks = static_cast<double>(work.tasks);
  std::vector<steer::figure> figures;
  if (work.elapsed_s <= 0 || tasks == 0 || work.busy_s <= 0) return figures;
  const auto add_figure = [&](std::string_view name, double value) { figures.push_back({std::string(name), value}); };
  add_figure(steer::figures::idle_share, std::clamp(1 - work.busy_s / (workers * work.elapsed_s), 0.0, 1.0));
  add_figure(steer::figures::imbalance, work.most_busy_s * workers / work.busy_s);
  add_figure(steer::figures::steal_share, static_cast<double>(now.total.stolen) / tasks);
  add_figure(steer::figures::queued_share, grown(first.total.started, now.total.started) / tasks);
  add_figure(steer::figures::task_seconds, work.busy_s / tasks);
  add_figure(steer::figures::workers, workers);
  return figures;
}

}  // namespace trimtab::task_steering

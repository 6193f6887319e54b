#include "machine.hpp"

#include <algorithm>

#include "machine_jobs.hpp"

namespace trimtab::steer::testing {

namespace {
constexpr double quota_period_s = 0.1;
}

machine::machine(machine_options options) : m_options(options), m_random(options.seed), m_queues(options.cpus) {}
machine::~machine() = default;

const machine::program& machine::operator[](std::size_t number) const { return m_jobs[number]->seen; }

std::size_t machine::add(program_options options) {
  auto fresh = std::make_unique<job>();
  fresh->number = static_cast<std::uint32_t>(m_jobs.size());
  fresh->seen.threads = options.is_serial ? 1 : options.threads;
  fresh->threads.resize(static_cast<std::size_t>(fresh->seen.threads));
  for (thread& each : fresh->threads) {
    each.of = fresh.get();
    each.cpu = m_random.below(m_options.cpus);
  }
  if (options.fits) {
    fresh->steering = std::make_unique<engine>();
    fresh->steering->add(options.fits());
  }
  fresh->seen.options = std::move(options);
  m_jobs.push_back(std::move(fresh));
  return m_jobs.size() - 1;
}

double machine::slice() { return m_options.slice_s * (0.5 + m_random.share()); }

void machine::wake(thread& woken) {
  if (woken.is_awake) return;
  woken.is_awake = true;
  const auto idle = std::find_if(m_queues.begin(), m_queues.end(), [](const auto& queue) { return queue.empty(); });
  if (!m_queues[woken.cpu].empty() && idle != m_queues.end()) woken.cpu = static_cast<std::size_t>(idle - m_queues.begin());
  std::deque<thread*>& queue = m_queues[woken.cpu];
  woken.slice_s = slice();
  if (m_time_s - woken.asleep_since_s >= m_options.slept_long_s)
    queue.push_front(&woken);
  else
    queue.push_back(&woken);
}

void machine::sleep(thread& woken) {
  if (!woken.is_awake) return;
  woken.is_awake = woken.is_on = false;
  woken.asleep_since_s = m_time_s;
  std::erase(m_queues[woken.cpu], &woken);
}

void machine::yield(thread& woken) {
  std::deque<thread*>& queue = m_queues[woken.cpu];
  if (!woken.is_awake || queue.size() < 2) return;
  std::erase(queue, &woken);
  queue.push_back(&woken);
  woken.slice_s = slice();
  woken.is_on = false;  // for the rest of the tick, too
}

// An idle CPU takes the last of the longest queue; and now and then any that has a shorter one, so that it is not always the
// same who share a CPU.
void machine::balance() {
  for (std::size_t to = 0; to < m_queues.size(); ++to) {
    const auto longest =
        std::max_element(m_queues.begin(), m_queues.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const bool is_time = m_random.share() < m_options.tick_s / 0.05;
    if (longest->size() < 2 || longest->size() <= m_queues[to].size() || (!m_queues[to].empty() && !is_time)) continue;
    thread* const moved = longest->back();
    longest->pop_back();
    moved->cpu = to;
    m_queues[to].push_back(moved);
  }
}

void machine::tick() {
  for (const auto& candidate : m_jobs) {
    job& process_job = *candidate;
    const program_options& options = process_job.seen.options;
    if (!process_job.is_running && process_job.seen.done_s == never && m_time_s >= options.begins_s &&
        m_time_s < options.ends_s)
      begin(process_job);
    if (process_job.is_running && (process_job.seen.worked_s >= options.work_s || m_time_s >= options.ends_s))
      end(process_job);
  }
  balance();
  for (auto& queue : m_queues) {
    for (thread* each : queue) each->is_on = false;
    // A group without quota left is passed over.
    const auto next =
        std::find_if(queue.begin(), queue.end(), [](const thread* candidate) { return !candidate->of->is_throttled; });
    if (next == queue.end()) {
      m_idle_s += m_options.tick_s;
      continue;
    }
    thread& runs = **next;
    runs.is_on = true;
    runs.slice_s -= m_options.tick_s;
    job& process_job = *runs.of;
    process_job.seen.cpu_s += m_options.tick_s;
    process_job.used_s += m_options.tick_s;
    process_job.quota_left_s -= m_options.tick_s;
    for (thread* each : queue)
      if (each != &runs && !each->of->is_throttled) each->delay_s += m_options.tick_s;
    if (runs.slice_s > 0) continue;
    runs.slice_s = slice();
    queue.erase(next);
    queue.push_back(&runs);
  }
  m_time_s += m_options.tick_s;
  for (const auto& candidate : m_jobs) {
    job& process_job = *candidate;
    if (!process_job.is_running) continue;
    process_job.seen.thread_s += m_options.tick_s * static_cast<double>(process_job.members);
    if (process_job.is_throttled) process_job.throttled_s += m_options.tick_s;
    process_job.is_throttled = process_job.quota_left_s <= 0;
    advance(process_job);
  }
}

void machine::run_until(double end_s) {
  double quota_ends_s = m_time_s;
  while (m_time_s < end_s) {
    if (m_time_s >= quota_ends_s) {
      quota_ends_s += quota_period_s;
      for (const auto& running_job : m_jobs) {
        const double quota = running_job->seen.options.quota_cpus;
        running_job->quota_left_s = quota > 0 ? std::min(0.0, running_job->quota_left_s) + quota * quota_period_s : never;
        running_job->is_throttled = running_job->quota_left_s <= 0;
      }
    }
    tick();
    if (m_time_s < m_next_look_s) continue;
    m_next_look_s += m_options.look_s;
    for (const auto& running_job : m_jobs)
      if (running_job->is_running) look(*running_job);
  }
}

void machine::run_to_end(double latest_s) {
  const auto is_finished = [](const auto& candidate) {
    return candidate->seen.options.work_s == never || candidate->seen.done_s != never;
  };
  while (m_time_s < latest_s && !std::all_of(m_jobs.begin(), m_jobs.end(), is_finished)) run_until(m_time_s + 0.1);
}

}  // namespace trimtab::steer::testing

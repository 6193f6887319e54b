#include "placement_steering.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/placement.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::session {

namespace {

// Between two looks, each of which reads a file or two a thread: 0.2 % of a CPU.
constexpr double least_s = 0.045, least_s_a_thread = 0.01;
// Of the time between two looks. Two threads that share a CPU with one of others' have a third each, and wait for more.
constexpr double running_share = 0.15, delayed_share = 0.1;
constexpr steer::knob_value most_moves = 1000;

}  // namespace

bool move_thread(const thread_move& move, const base::cpu_mask& allowed) noexcept {
  base::cpu_mask current_cpus, one_cpu;
  constexpr std::size_t width = 8 * sizeof one_cpu.bits[0];
  one_cpu.bits[move.to / width] = 1ul << (move.to % width);
  const auto tid = static_cast<pid_t>(move.tid);
  const auto set_of = [](base::cpu_mask& mask) { return reinterpret_cast<cpu_set_t*>(mask.bits); };
  if (sched_getaffinity(tid, sizeof current_cpus.bits, set_of(current_cpus)) != 0) return false;
  if (std::memcmp(current_cpus.bits, allowed.bits, sizeof current_cpus.bits) != 0) return false;
  if (sched_setaffinity(tid, sizeof one_cpu.bits, set_of(one_cpu)) != 0) return false;
  // Unless somebody has bound it meanwhile.
  base::cpu_mask now;
  if (sched_getaffinity(tid, sizeof now.bits, set_of(now)) != 0) return false;
  if (std::memcmp(now.bits, one_cpu.bits, sizeof now.bits) != 0) return true;
  return sched_setaffinity(tid, sizeof current_cpus.bits, set_of(current_cpus)) == 0;
}

// Nobody, too, where no thread has waited for a CPU since the last look: then none are shared.
std::vector<placed_thread> placement_steering::running_threads(double seconds) {
  const observe::times_of_threads before = std::exchange(m_before, observe::read_lane_times(""));
  if (m_before.size() < 2 || m_before.size() > m_cpus) return {};
  std::vector<std::uint32_t> running;
  double delayed_s = 0;
  for (const auto& [tid, now] : m_before) {
    const auto earlier = before.find(tid);
    if (earlier == before.end() || now.run_ns < earlier->second.run_ns) continue;
    delayed_s += static_cast<double>(now.run_delay_ns - std::min(now.run_delay_ns, earlier->second.run_delay_ns)) * 1e-9;
    if (static_cast<double>(now.run_ns - earlier->second.run_ns) * 1e-9 >= running_share * seconds) running.push_back(tid);
  }
  std::vector<placed_thread> placed;
  if (running.size() < 2 || delayed_s < delayed_share * seconds) return placed;
  const observe::proc_threads threads("");
  for (const std::uint32_t tid : running)
    if (const auto cpu = threads.cpu(tid)) placed.push_back({tid, *cpu});
  return placed;
}

bool placement_steering::make_known(steer::snapshot& now) {
  m_id = observe::the_recorder.named_subject(observe::subject_kind::scope, "threads that share a CPU", "", 0);
  if (m_id == observe::no_subject) {
    m_is_ignored = true;
    return false;
  }
  const steer::subject_info info{m_id,
                                 "threads that share a CPU",
                                 {{std::string(steer::knobs::moved),
                                   steer::certain(steer::domain::range(0, most_moves)),
                                   0,
                                   0,
                                   steer::consent::safe,
                                   0,
                                   {}}}};
  // Without a key: where threads were is nothing for the next run to begin with.
  const auto apply = [this](std::uint32_t, steer::knob_value) { return m_next && move_thread(*m_next, m_allowed); };
  m_registry.offer(now, {info, "", 0, apply, {}});
  return true;
}

void placement_steering::add_to(steer::snapshot& now) {
  const double seconds = now.time_s - m_looked_s;
  if (m_is_ignored || m_cpus < 2 || now.is_last) return;
  if (seconds < std::max(least_s, least_s_a_thread * static_cast<double>(m_before.size()))) return;
  m_looked_s = now.time_s;
  const sharing_threads sharing = find_sharing(running_threads(seconds), m_allowed, static_cast<std::uint32_t>(getpid()));
  m_next = sharing.move;
  if (!m_is_known && sharing.count > 0) m_is_known = make_known(now);
  if (!m_is_known) return;
  m_looks += 1;
  now.subjects.push_back({m_id,
                          {},
                          {{std::string(steer::figures::sharing_threads), static_cast<double>(sharing.count)},
                           {std::string(steer::figures::windows), m_looks}}});
}

}  // namespace trimtab::session

// Threads with a lane that share a CPU, as a subject whose knob moves one of them away: from the first time on that some are
// seen. Only where there are as many CPUs as threads, and where nobody has bound them. By the steering thread.
#pragma once

#include <optional>

#include "sharing_threads.hpp"
#include "trimtab/observe/lane_times.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::session {

// The thread is on that CPU once, and may run where it might before. False: it has gone, or was bound to other CPUs than
// `allowed`, which is its user's business.
bool move_thread(const thread_move& move, const base::cpu_mask& allowed) noexcept;

class placement_steering final : public steer::knob_source {
 public:
  // While the library loads: the CPUs of the process are those of the calling thread.
  explicit placement_steering(steer::knob_registry& registry)
      : m_registry(registry), m_allowed(base::allowed_cpus()), m_cpus(m_allowed.count()) {}
  void add_to(steer::snapshot& now) override;

 private:
  std::vector<placed_thread> running_threads(double seconds);
  bool make_known(steer::snapshot& now);

  steer::knob_registry& m_registry;
  base::cpu_mask m_allowed;
  std::uint32_t m_cpus;
  steer::subject_id m_id = 0;
  bool m_is_known = false, m_is_ignored = false;
  double m_looked_s = 0, m_looks = 0;
  observe::times_of_threads m_before;
  std::optional<thread_move> m_next;
};

}  // namespace trimtab::session

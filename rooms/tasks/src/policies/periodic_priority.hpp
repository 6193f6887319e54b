// periodic-priority: as local-priority, but a worker looks after its queues every so many tasks instead of whenever
// something has changed: only then, and at the first task of a burst, is anything offered to others. Who finds nothing
// for long takes it by force.
#pragma once

#include "policies/local_priority.hpp"

namespace trimtab::tasks {

class periodic_priority {
 public:
  static constexpr const char* name = "periodic-priority";
  static constexpr bool keeps_own = true;
  static constexpr bool names_taker = false;
  static constexpr auto offers = task_deque::offering::periodic;
  static constexpr std::uint32_t period = 32;  // looks for a task; task_deque counts what is pushed

  explicit periodic_priority(queues& all) : m_queues(all) {}

  bool push(queues& all, std::uint32_t worker, task& what) noexcept { return m_queues.push(all, worker, what); }

  void put(queues& all, task& what, std::int32_t hint = -1) noexcept { m_queues.put(all, what, hint); }

  task* next(queues& all, std::uint32_t worker, search& how, bool& is_offered) noexcept {
    worker_queues& own = all[worker];
    if (own.looks % period == 0) is_offered |= maintain(own);
    // Asking is on demand: only force is left.
    search patient{how.may_raid() ? how.looks : 0};
    return m_queues.next(all, worker, patient, is_offered);
  }

  bool may_find(queues& all, std::uint32_t worker) const noexcept { return m_queues.may_find(all, worker); }

 private:
  static bool maintain(worker_queues& own) noexcept {
    const bool is_offered = own.normal.maintain();
    return own.high.maintain() || is_offered;
  }

  priority_queues<detail::order::oldest_first> m_queues;
};

}  // namespace trimtab::tasks

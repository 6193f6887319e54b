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

  explicit periodic_priority(queues& pool) : m_queues(pool) {}

  bool push(queues& pool, std::uint32_t worker, task& item) noexcept { return m_queues.push(pool, worker, item); }

  void place(queues& pool, task& item, std::int32_t hint = -1) noexcept { m_queues.place(pool, item, hint); }

  task* next(queues& pool, std::uint32_t worker, search& effort, bool& is_offered) noexcept {
    worker_queues& own_queues = pool[worker];
    if (own_queues.looks % period == 0) is_offered |= maintain(own_queues);
    // Asking is on demand: only force is left.
    search patient{effort.may_raid() ? effort.looks : 0};
    return m_queues.next(pool, worker, patient, is_offered);
  }

  bool may_find(queues& pool, std::uint32_t worker) const noexcept { return m_queues.may_find(pool, worker); }

 private:
  static bool maintain(worker_queues& own_queues) noexcept {
    const bool is_offered = own_queues.normal.maintain();
    return own_queues.high.maintain() || is_offered;
  }

  priority_queues<detail::order::oldest_first> m_queues;
};

}  // namespace trimtab::tasks

// static-priority: each task goes to the next worker in turn and stays there: nothing is stolen. Priorities as in
// local-priority, with one queue of low priority for all workers. While more than 1,024 tasks wait for a worker, it runs the
// newest first. Forks of `invoke` stay in the queue of the worker that forks. Tasks that workers above the cap have left are
// distributed among the others.
//
// The number of suspended tasks has no bound with several workers. To run an awaited task in place bounds it only if the
// task is in the awaiting worker's own queue; of n workers, n - 1 of n awaited tasks are in another worker's inbox, and to
// take them from there would be stealing.
#pragma once

#include "policies/contract.hpp"

namespace trimtab::tasks {

class static_priority {
 public:
  static constexpr const char* name = "static-priority";
  static constexpr bool keeps_own = false;
  static constexpr auto offers = task_deque::offering::disabled;
  static constexpr bool names_taker = true;

  explicit static_priority(queues&) {}

  std::uint32_t push(queues& pool, std::uint32_t, task& item) noexcept { return place(pool, item); }

  std::uint32_t place(queues& pool, task& item, std::int32_t hint = -1) noexcept {
    if (item.level == priority::low) {
      pool.low.enqueue(item);
      return anyone;
    }
    const std::uint32_t target = pool.target_of(hint);
    inbox& queue = item.level == priority::high ? pool[target].incoming_high : pool[target].incoming;
    // Nothing is taken back from here, so that who waits for what it has made sets its stack aside.
    queue.enqueue_bounded(item);
    // As `next` shares out what workers above the cap have. seq_cst, and after it is there: whoever lowers the cap later
    // wakes all.
    return target % pool.active.load(std::memory_order_seq_cst);
  }

  task* next(queues& pool, std::uint32_t worker, search& effort, bool& is_offered) noexcept {
    worker_queues& own_queues = pool[worker];
    const auto next_own = [&]() -> task* {
      if (task* const item = own_queues.incoming_high.dequeue()) return item;
      if (own_queues.normal.size() != 0)
        if (task* const item = own_queues.normal.pop_oldest(is_offered)) return item;
      return own_queues.incoming.dequeue();
    };
    if (task* const item = detail::looked(own_queues.counts, next_own)) return item;
    // Of a worker above the cap: what came to it before it heard of the cap.
    const std::uint32_t active = pool.active.load(std::memory_order_seq_cst);
    for (std::uint32_t victim = active + worker; victim < pool.size(); victim += active) {
      if (task* const item = detail::steal(pool[victim].incoming_high, own_queues.counts, is_offered)) return item;
      if (task* const item = detail::steal(pool[victim].incoming, own_queues.counts, is_offered)) return item;
      if (task* const item = detail::steal(pool[victim].normal, own_queues.normal, own_queues.counts, effort, is_offered))
        return item;
    }
    return pool.low.dequeue();
  }

  bool may_find(queues& pool, std::uint32_t worker) const noexcept {
    const std::uint32_t active = pool.active.load(std::memory_order_seq_cst);
    std::uint64_t length = pool.low.size();
    for (std::uint32_t index = worker; index < pool.size(); index += active) length += pool[index].length();
    return length != 0;
  }
};

}  // namespace trimtab::tasks

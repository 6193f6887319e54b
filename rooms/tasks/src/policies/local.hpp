// local: one queue a worker, oldest first; stealing; no priorities.
#pragma once

#include "policies/contract.hpp"

namespace trimtab::tasks {

class local {
 public:
  static constexpr const char* name = "local";
  static constexpr bool keeps_own = true;
  static constexpr auto offers = task_deque::offering::on_demand;
  static constexpr bool names_taker = false;

  explicit local(queues&) {}

  bool push(queues& pool, std::uint32_t worker, task& item) noexcept { return pool[worker].normal.push(item); }
  void place(queues& pool, task& item, std::int32_t hint = -1) noexcept {
    pool[pool.target_of(hint)].incoming.enqueue(item);
  }

  task* next(queues& pool, std::uint32_t worker, search& effort, bool& is_offered) noexcept {
    worker_queues& own_queues = pool[worker];
    const bool is_incoming_first = ++own_queues.looks % detail::looks_per_incoming == 0;
    const auto next_own = [&]() -> task* {
      if (is_incoming_first)
        if (task* const item = own_queues.incoming.dequeue()) return item;
      if (task* const item = own_queues.normal.pop_oldest(is_offered)) return item;
      return own_queues.incoming.dequeue();
    };
    if (task* const item = detail::looked(own_queues.counts, next_own)) return item;
    return detail::search_victims(pool, own_queues, [&](worker_queues& victim) -> task* {
      if (task* const item = detail::steal(victim.normal, own_queues.normal, own_queues.counts, effort, is_offered))
        return item;
      return detail::steal(victim.incoming, own_queues.counts, is_offered);
    });
  }

  bool may_find(queues& pool, std::uint32_t) const noexcept { return pool.length() != 0; }
};

}  // namespace trimtab::tasks

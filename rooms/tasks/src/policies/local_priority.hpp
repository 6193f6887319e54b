// local-priority: each worker has a queue of normal and one of high priority, served first; one queue of low priority
// for all is served when nothing else is left. Own queues first, then those of workers of the same domain of memory,
// then of all others. Oldest first.
#pragma once

#include "policies/contract.hpp"

namespace trimtab::tasks {

// Also what abp-priority and periodic-priority are made of.
template <detail::order own_order>
class priority_queues {
 public:
  static constexpr bool keeps_own = true;
  static constexpr bool names_taker = false;

  explicit priority_queues(queues&) {}

  bool push(queues& pool, std::uint32_t worker, task& item) noexcept {
    worker_queues& own_queues = pool[worker];
    switch (item.level) {
      case priority::high:
        return own_queues.high.push(item);
      case priority::normal:
        return own_queues.normal.push(item);
      case priority::low:
        break;
    }
    pool.low.enqueue(item);
    return true;
  }

  void place(queues& pool, task& item, std::int32_t hint = -1) noexcept {
    if (item.level == priority::low) return pool.low.enqueue(item);
    worker_queues& target = pool[pool.target_of(hint)];
    (item.level == priority::high ? target.incoming_high : target.incoming).enqueue(item);
  }

  task* next(queues& pool, std::uint32_t worker, search& effort, bool& is_offered) noexcept {
    worker_queues& own_queues = pool[worker];
    const bool is_incoming_first = ++own_queues.looks % detail::looks_per_incoming == 0;
    if (task* const item =
            detail::looked(own_queues.counts, [&] { return next_own(own_queues, is_incoming_first, is_offered); }))
      return item;
    const auto steal_high = [&](worker_queues& victim) -> task* {
      if (task* const item = detail::steal(victim.high, own_queues.high, own_queues.counts, effort, is_offered)) return item;
      return detail::steal(victim.incoming_high, own_queues.counts, is_offered);
    };
    const auto steal_normal = [&](worker_queues& victim) -> task* {
      if (task* const item = detail::steal(victim.normal, own_queues.normal, own_queues.counts, effort, is_offered))
        return item;
      return detail::steal(victim.incoming, own_queues.counts, is_offered);
    };
    if (task* const item = detail::search_victims(pool, own_queues, steal_high)) return item;
    if (task* const item = detail::search_victims(pool, own_queues, steal_normal)) return item;
    return pool.low.dequeue();
  }

  bool may_find(queues& pool, std::uint32_t) const noexcept { return pool.length() != 0; }

 private:
  task* next_own(worker_queues& own_queues, bool is_incoming_first, bool& is_offered) noexcept {
    if (own_queues.high.size() != 0)
      if (task* const item = detail::pop<own_order>(own_queues.high, is_offered)) return item;
    if (task* const item = own_queues.incoming_high.dequeue()) return item;
    if (is_incoming_first)
      if (task* const item = own_queues.incoming.dequeue()) return item;
    if (task* const item = detail::pop<own_order>(own_queues.normal, is_offered)) return item;
    return own_queues.incoming.dequeue();
  }
};

class local_priority : public priority_queues<detail::order::oldest_first> {
 public:
  static constexpr auto offers = task_deque::offering::on_demand;
  static constexpr const char* name = "local-priority";
  using priority_queues::priority_queues;
};

}  // namespace trimtab::tasks

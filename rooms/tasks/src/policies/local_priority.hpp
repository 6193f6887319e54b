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

  bool push(queues& all, std::uint32_t worker, task& what) noexcept {
    worker_queues& own = all[worker];
    switch (what.level) {
      case priority::high:
        return own.high.push(what);
      case priority::normal:
        return own.normal.push(what);
      case priority::low:
        break;
    }
    all.low.put(what);
    return true;
  }

  void put(queues& all, task& what, std::int32_t hint = -1) noexcept {
    if (what.level == priority::low) return all.low.put(what);
    worker_queues& target = all[all.target_of(hint)];
    (what.level == priority::high ? target.incoming_high : target.incoming).put(what);
  }

  task* next(queues& all, std::uint32_t worker, search& how, bool& is_offered) noexcept {
    worker_queues& own = all[worker];
    const bool is_incoming_first = ++own.looks % detail::looks_per_incoming == 0;
    if (task* const found = detail::looked(own.counts, [&] { return next_own(own, is_incoming_first, is_offered); }))
      return found;
    const auto steal_high = [&](worker_queues& victim) -> task* {
      if (task* const found = detail::steal(victim.high, own.high, own.counts, how, is_offered)) return found;
      return detail::steal(victim.incoming_high, own.counts, is_offered);
    };
    const auto steal_normal = [&](worker_queues& victim) -> task* {
      if (task* const found = detail::steal(victim.normal, own.normal, own.counts, how, is_offered)) return found;
      return detail::steal(victim.incoming, own.counts, is_offered);
    };
    if (task* const found = detail::search_victims(all, own, steal_high)) return found;
    if (task* const found = detail::search_victims(all, own, steal_normal)) return found;
    return all.low.take();
  }

  bool may_find(queues& all, std::uint32_t) const noexcept { return all.length() != 0; }

 private:
  task* next_own(worker_queues& own, bool is_incoming_first, bool& is_offered) noexcept {
    if (own.high.size() != 0)
      if (task* const found = detail::pop<own_order>(own.high, is_offered)) return found;
    if (task* const found = own.incoming_high.take()) return found;
    if (is_incoming_first)
      if (task* const found = own.incoming.take()) return found;
    if (task* const found = detail::pop<own_order>(own.normal, is_offered)) return found;
    return own.incoming.take();
  }
};

class local_priority : public priority_queues<detail::order::oldest_first> {
 public:
  static constexpr auto offers = task_deque::offering::on_demand;
  static constexpr const char* name = "local-priority";
  using priority_queues::priority_queues;
};

}  // namespace trimtab::tasks

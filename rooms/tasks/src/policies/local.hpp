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

  bool push(queues& all, std::uint32_t worker, task& what) noexcept { return all[worker].normal.push(what); }
  void put(queues& all, task& what, std::int32_t hint = -1) noexcept { all[all.target_of(hint)].incoming.put(what); }

  task* next(queues& all, std::uint32_t worker, search& how, bool& is_offered) noexcept {
    worker_queues& own = all[worker];
    const bool is_incoming_first = ++own.looks % detail::looks_per_incoming == 0;
    const auto next_own = [&]() -> task* {
      if (is_incoming_first)
        if (task* const found = own.incoming.take()) return found;
      if (task* const found = own.normal.pop_oldest(is_offered)) return found;
      return own.incoming.take();
    };
    if (task* const found = detail::looked(own.counts, next_own)) return found;
    return detail::search_victims(all, own, [&](worker_queues& victim) -> task* {
      if (task* const found = detail::steal(victim.normal, own.normal, own.counts, how, is_offered)) return found;
      return detail::steal(victim.incoming, own.counts, is_offered);
    });
  }

  bool may_find(queues& all, std::uint32_t) const noexcept { return all.length() != 0; }
};

}  // namespace trimtab::tasks

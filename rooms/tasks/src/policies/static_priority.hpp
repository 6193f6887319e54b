// static-priority: each task is given to the next worker in turn, and stays there: nothing is stolen. Priorities as in
// local-priority, with a queue of low priority for all; of more than 1,024 tasks that wait for one worker the newest comes
// first. Forks of `invoke` stay with their forker. What workers above the
// cap have left is shared out among the others.
#pragma once

#include "policies/contract.hpp"

namespace trimtab::tasks {

class static_priority {
 public:
  static constexpr const char* name = "static-priority";
  static constexpr bool keeps_own = false;
  static constexpr auto offers = task_deque::offering::never;
  static constexpr bool names_taker = true;

  explicit static_priority(queues&) {}

  std::uint32_t push(queues& all, std::uint32_t, task& what) noexcept { return put(all, what); }

  std::uint32_t put(queues& all, task& what, std::int32_t hint = -1) noexcept {
    if (what.level == priority::low) {
      all.low.put(what);
      return anyone;
    }
    const std::uint32_t target = all.target_of(hint);
    inbox& into = what.level == priority::high ? all[target].incoming_high : all[target].incoming;
    // Nothing is taken back from here, so that who waits for what it has made sets its stack aside.
    into.put_bounded(what);
    // As `next` shares out what workers above the cap have. seq_cst, and after it is there: whoever lowers the cap later
    // wakes all.
    return target % all.active.load(std::memory_order_seq_cst);
  }

  task* next(queues& all, std::uint32_t worker, search& how, bool& is_offered) noexcept {
    worker_queues& own = all[worker];
    const auto next_own = [&]() -> task* {
      if (task* const found = own.incoming_high.take()) return found;
      if (own.normal.size() != 0)
        if (task* const found = own.normal.pop_oldest(is_offered)) return found;
      return own.incoming.take();
    };
    if (task* const found = detail::looked(own.counts, next_own)) return found;
    // Of a worker above the cap: what came to it before it heard of the cap.
    const std::uint32_t active = all.active.load(std::memory_order_seq_cst);
    for (std::uint32_t other = active + worker; other < all.size(); other += active) {
      if (task* const found = detail::steal(all[other].incoming_high, own.counts, is_offered)) return found;
      if (task* const found = detail::steal(all[other].incoming, own.counts, is_offered)) return found;
      if (task* const found = detail::steal(all[other].normal, own.normal, own.counts, how, is_offered)) return found;
    }
    return all.low.take();
  }

  bool may_find(queues& all, std::uint32_t worker) const noexcept {
    const std::uint32_t active = all.active.load(std::memory_order_seq_cst);
    std::uint64_t length = all.low.size();
    for (std::uint32_t each = worker; each < all.size(); each += active) length += all[each].length();
    return length != 0;
  }
};

}  // namespace trimtab::tasks

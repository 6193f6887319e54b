// abp-priority: as local-priority, but a worker takes its own newest task and thieves take the oldest, from the two ends
// of a lock-free queue.
#pragma once

#include "policies/local_priority.hpp"

namespace trimtab::tasks {

class abp_priority : public priority_queues<detail::order::newest_first> {
 public:
  static constexpr auto offers = task_deque::offering::on_demand;
  static constexpr const char* name = "abp-priority";
  using priority_queues::priority_queues;
};

}  // namespace trimtab::tasks

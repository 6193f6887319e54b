#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::tasks {

queues::queues(std::uint32_t count, const std::vector<std::uint32_t>& domains, task_deque::offering offers) : active(count) {
  if (count == 1) offers = task_deque::offering::disabled;
  const auto domain_of = [&](std::uint32_t worker) { return domains.empty() ? 0 : domains[worker % domains.size()]; };
  for (std::uint32_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<worker_queues>(offers, i, domain_of(i)));
    worker_queues& queue_set = *workers.back();
    // From the next one on, so that not all begin with the first.
    for (const bool is_near : {true, false})
      for (std::uint32_t step = 1; step < count; ++step) {
        const std::uint32_t victim = (i + step) % count;
        if ((domain_of(victim) == queue_set.domain) != is_near) continue;
        queue_set.victims.push_back(victim);
        queue_set.near_victims += is_near;
      }
  }
}

std::uint64_t queues::length() const noexcept {
  std::uint64_t sum = low.size();
  for (const auto& queue : workers) sum += queue->length();
  for (const auto& queue : shared) sum += queue->size();
  return sum;
}

bool queues::has_incoming(const worker_queues& own_queues) const noexcept {
  std::uint32_t sum = low.size() + own_queues.incoming_high.size() + own_queues.incoming.size();
  for (const auto& queue : shared) sum += queue->size();
  return sum != 0;
}

std::uint64_t queues::tasks() const noexcept {
  std::uint64_t sum = low.size();
  for (const auto& queue : workers) sum += queue->tasks();
  for (const auto& queue : shared) sum += queue->size();
  return sum;
}

}  // namespace trimtab::tasks

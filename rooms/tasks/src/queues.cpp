#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::tasks {

queues::queues(std::uint32_t count, const std::vector<std::uint32_t>& domains, task_deque::offering when) : active(count) {
  if (count == 1) when = task_deque::offering::never;
  const auto domain_of = [&](std::uint32_t worker) { return domains.empty() ? 0 : domains[worker % domains.size()]; };
  for (std::uint32_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<worker_queues>(when, i, domain_of(i)));
    worker_queues& made = *workers.back();
    // From the next one on, so that not all begin with the first.
    for (const bool is_near : {true, false})
      for (std::uint32_t step = 1; step < count; ++step) {
        const std::uint32_t other = (i + step) % count;
        if ((domain_of(other) == made.domain) != is_near) continue;
        made.victims.push_back(other);
        made.near_victims += is_near;
      }
  }
}

std::uint64_t queues::length() const noexcept {
  std::uint64_t sum = low.size();
  for (const auto& each : workers) sum += each->length();
  for (const auto& each : shared) sum += each->size();
  return sum;
}

bool queues::has_incoming(const worker_queues& own) const noexcept {
  std::uint32_t sum = low.size() + own.incoming_high.size() + own.incoming.size();
  for (const auto& each : shared) sum += each->size();
  return sum != 0;
}

std::uint64_t queues::tasks() const noexcept {
  std::uint64_t sum = low.size();
  for (const auto& each : workers) sum += each->tasks();
  for (const auto& each : shared) sum += each->size();
  return sum;
}

}  // namespace trimtab::tasks

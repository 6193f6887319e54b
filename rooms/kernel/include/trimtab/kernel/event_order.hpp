// Events of all CPUs in the order of time. Each CPU's come in its own order; those of another CPU may come later.
//
// Pure: no system. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "trimtab/kernel/scheduler_event.hpp"

namespace trimtab::kernel {

class event_order {
 public:
  explicit event_order(std::size_t sources) : m_waiting(sources) {}
  // source: the CPU's number among those that are recorded.
  void add(std::size_t source, const scheduler_event& happened) { m_waiting[source].push_back(happened); }
  // Calls take(event) for all events up to this time, earliest first; of equal times, those of the first source.
  template <class function>
  void take_until(std::uint64_t time_ns, function&& take);
  std::size_t waiting() const noexcept;

 private:
  struct next_event {
    std::uint64_t time_ns;
    std::size_t source;
    bool operator>(const next_event& other) const noexcept {
      return time_ns != other.time_ns ? time_ns > other.time_ns : source > other.source;
    }
  };
  std::vector<std::deque<scheduler_event>> m_waiting;
};

inline std::size_t event_order::waiting() const noexcept {
  std::size_t sum = 0;
  for (const auto& one : m_waiting) sum += one.size();
  return sum;
}

template <class function>
void event_order::take_until(std::uint64_t time_ns, function&& take) {
  std::priority_queue<next_event, std::vector<next_event>, std::greater<>> first;
  const auto offer = [&](std::size_t source) {
    if (!m_waiting[source].empty() && m_waiting[source].front().time_ns <= time_ns)
      first.push({m_waiting[source].front().time_ns, source});
  };
  for (std::size_t source = 0; source < m_waiting.size(); ++source) offer(source);
  while (!first.empty()) {
    const std::size_t source = first.top().source;
    first.pop();
    take(m_waiting[source].front());
    m_waiting[source].pop_front();
    offer(source);
  }
}

}  // namespace trimtab::kernel

#include "simulation/event_queue.hpp"

#include <algorithm>
#include <utility>

#include "trimtab/parcels/coalescing/clock.hpp"

namespace trimtab::parcels::simulation {

event_queue::~event_queue() { simulated_ns.store(0, std::memory_order_relaxed); }

bool event_queue::is_later(const entry& one, const entry& other) noexcept {
  return std::pair(one.time, one.sequence) > std::pair(other.time, other.sequence);
}

void event_queue::set(nanoseconds time) noexcept {
  m_now = time;
  simulated_ns.store(time, std::memory_order_relaxed);
}

void event_queue::add(nanoseconds time, callback call) {
  m_entries.push_back({std::max(time, m_current), m_sequence++, std::move(call)});
  std::push_heap(m_entries.begin(), m_entries.end(), is_later);
}

bool event_queue::run_next() {
  if (m_entries.empty()) return false;
  std::pop_heap(m_entries.begin(), m_entries.end(), is_later);
  const entry next = std::move(m_entries.back());
  m_entries.pop_back();
  m_current = next.time;
  set(next.time);
  ++m_events;
  next.call();
  return true;
}

}  // namespace trimtab::parcels::simulation

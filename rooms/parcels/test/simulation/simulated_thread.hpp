// A thread in simulated time: it does one thing after the other, in the order in which they were given to it. Such as a
// worker, or a server that sends for others.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>

#include "simulation/event_queue.hpp"

namespace trimtab::parcels::simulation {

class simulated_thread {
 public:
  explicit simulated_thread(event_queue& events) : m_events(events) {}
  simulated_thread(const simulated_thread&) = delete;
  simulated_thread& operator=(const simulated_thread&) = delete;

  // Calls `work` when all that was given before is done, but not before `time`. What `work` spends is this thread's time.
  void run(event_queue::callback work, nanoseconds time = 0) {
    m_work.emplace_back(time, std::move(work));
    if (m_work.size() == 1) schedule();
  }
  // Within work: the thread is busy for so much longer, and others may do something in the meantime.
  void occupy(nanoseconds duration) noexcept { m_occupied += duration; }
  nanoseconds busy_ns() const noexcept { return m_busy; }
  bool is_idle() const noexcept { return m_work.empty(); }

 private:
  void schedule() {
    m_events.add(std::max({m_work.front().first, m_free_at, m_events.now()}), [this] { run_first(); });
  }
  void run_first() {
    const nanoseconds begin = m_events.now();
    m_occupied = 0;
    m_work.front().second();
    m_free_at = m_events.now() + m_occupied;
    m_busy += m_free_at - begin;
    m_work.pop_front();
    if (!m_work.empty()) schedule();
  }

  event_queue& m_events;
  std::deque<std::pair<nanoseconds, event_queue::callback>> m_work;  // a deque: work that runs adds to it
  nanoseconds m_free_at = 0, m_busy = 0, m_occupied = 0;
};

}  // namespace trimtab::parcels::simulation

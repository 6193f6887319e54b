// Events in simulated time, in one thread: who is due first runs first, and of those due at the same time the one that was
// added first. While events run, the code that coalesces parcels reads this time (coalescing/clock.hpp).
//
// An event may spend time: its own clock then runs ahead of the events that are still to come. What it does to others must
// take effect by an event of its own. So it learns of what others do meanwhile only at its next event, and an event should
// spend no more than one message costs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace trimtab::parcels::simulation {

using nanoseconds = std::uint64_t;

class event_queue {
 public:
  using callback = std::function<void()>;
  // Simulated time begins here: 0 stands for "never" in what is simulated.
  static constexpr nanoseconds first_time = 1'000'000'000;

  event_queue() { set(first_time); }
  ~event_queue();
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  // Of the event that runs, with what it has spent.
  nanoseconds now() const noexcept { return m_now; }
  // Time passes within the event that runs.
  void spend(nanoseconds duration) noexcept { set(m_now + duration); }
  void spend_until(nanoseconds time) noexcept {
    if (time > m_now) set(time);
  }
  // A time that has passed is that of the event that runs next.
  void add(nanoseconds time, callback call);
  // False: there is none.
  bool run_next();
  std::uint64_t events() const noexcept { return m_events; }  // that have run

 private:
  struct entry {
    nanoseconds time;
    std::uint64_t sequence;
    callback call;
  };
  static bool is_later(const entry& one, const entry& other) noexcept;
  void set(nanoseconds time) noexcept;

  std::vector<entry> m_entries;                   // a heap
  nanoseconds m_now = 0, m_current = first_time;  // m_current: when the event that runs was due
  std::uint64_t m_sequence = 0, m_events = 0;
};

}  // namespace trimtab::parcels::simulation

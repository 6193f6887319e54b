// A mutex for one writer or many readers as of the standard library, with its timed functions. Who waits gets it in turn:
// readers that come after a waiting writer wait as well.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks {

class shared_mutex {
 public:
  shared_mutex() = default;

  void lock() { take(true); }
  bool try_lock() noexcept { return try_take(true); }
  void unlock() noexcept;
  void lock_shared() { take(false); }
  bool try_lock_shared() noexcept { return try_take(false); }
  void unlock_shared() noexcept;

  // False: the time is over, and it was not to be had.
  template <class rep, class period>
  bool try_lock_for(const std::chrono::duration<rep, period>& time) {
    return take_until(true, detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_lock_until(const std::chrono::time_point<clock, duration>& when) {
    return take_until(true, detail::deadline_at(when));
  }
  template <class rep, class period>
  bool try_lock_shared_for(const std::chrono::duration<rep, period>& time) {
    return take_until(false, detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_lock_shared_until(const std::chrono::time_point<clock, duration>& when) {
    return take_until(false, detail::deadline_at(when));
  }

  // False: stop was requested, and it was not to be had before.
  bool try_lock(const std::stop_token& stop) { return take_unless(stop, true); }
  bool try_lock_shared(const std::stop_token& stop) { return take_unless(stop, false); }

 private:
  struct seeker : waiter {
    bool is_writer = false;
  };
  // Under the lock.
  bool is_free_for(bool writer) const noexcept { return !m_has_writer && (!writer || m_readers == 0); }
  void grant(bool writer) noexcept { writer ? void(m_has_writer = true) : void(m_readers += 1); }
  waiter* grant_next() noexcept;

  void take(bool writer);
  bool try_take(bool writer) noexcept;
  bool take_until(bool writer, timer::clock::time_point deadline);
  bool take_unless(const std::stop_token& stop, bool writer);
  // True: it is `who`'s. False: it will be told when it is.
  bool take_or_enlist(seeker& who) noexcept;
  bool remove(waiter& who) noexcept;

  base::spin_lock m_lock;
  bool m_has_writer = false;
  std::uint32_t m_readers = 0;
  wait_queue m_waiting;
};

using shared_timed_mutex = shared_mutex;

}  // namespace trimtab::tasks

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

  void lock() { acquire_one(true); }
  bool try_lock() noexcept { return try_acquire_one(true); }
  void unlock() noexcept;
  void lock_shared() { acquire_one(false); }
  bool try_lock_shared() noexcept { return try_acquire_one(false); }
  void unlock_shared() noexcept;

  // False: the time is over, and it was not to be had.
  template <class rep, class period>
  bool try_lock_for(const std::chrono::duration<rep, period>& time) {
    return acquire_until(true, detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_lock_until(const std::chrono::time_point<clock, duration>& deadline) {
    return acquire_until(true, detail::deadline_at(deadline));
  }
  template <class rep, class period>
  bool try_lock_shared_for(const std::chrono::duration<rep, period>& time) {
    return acquire_until(false, detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_lock_shared_until(const std::chrono::time_point<clock, duration>& deadline) {
    return acquire_until(false, detail::deadline_at(deadline));
  }

  // False: stop was requested, and it was not to be had before.
  bool try_lock(const std::stop_token& stop) { return acquire_unless(stop, true); }
  bool try_lock_shared(const std::stop_token& stop) { return acquire_unless(stop, false); }

 private:
  struct seeker : waiter {
    bool is_writer = false;
  };
  // Under the lock.
  bool is_free_for(bool writer) const noexcept { return !m_has_writer && (!writer || m_readers == 0); }
  void grant(bool writer) noexcept { writer ? void(m_has_writer = true) : void(m_readers += 1); }
  waiter* grant_next() noexcept;

  void acquire_one(bool writer);
  bool try_acquire_one(bool writer) noexcept;
  bool acquire_until(bool writer, timer::clock::time_point deadline);
  bool acquire_unless(const std::stop_token& stop, bool writer);
  // True: `waiting` has the lock. False: it will be notified when it has it.
  bool acquire_or_enlist(seeker& waiting) noexcept;
  bool remove(waiter& waiting) noexcept;

  base::spin_lock m_lock;
  bool m_has_writer = false;
  std::uint32_t m_readers = 0;
  wait_queue m_waiting;
};

using shared_timed_mutex = shared_mutex;

}  // namespace trimtab::tasks

// A condition variable as of the standard library, for any lock, which sets tasks aside and blocks no worker.
#pragma once

#include <chrono>
#include <condition_variable>  // std::cv_status
#include <mutex>
#include <stop_token>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks {

class condition_variable {
 public:
  condition_variable() = default;

  // No spurious wake-ups.
  template <class lock_type>
  void wait(lock_type& lock) {
    parked<> sleeper;
    enlist(sleeper);
    lock.unlock();
    sleeper.notified.wait(wait_reason::condition, this);
    lock.lock();
  }
  template <class lock_type, class predicate>
  void wait(lock_type& lock, predicate is_met) {
    while (!is_met()) wait(lock);
  }

  // Until it is met or stop is requested: whether it is met then.
  template <class lock_type, class predicate>
  bool wait(lock_type& lock, const std::stop_token& stop, predicate is_met) {
    while (!stop.stop_requested()) {
      if (is_met()) return true;
      parked<> sleeper;
      enlist(sleeper);
      lock.unlock();
      detail::wait_unless(stop, sleeper, wait_reason::condition, this,
                          [this](waiter& queued) noexcept { return remove(queued); });
      lock.lock();
    }
    return is_met();
  }

  template <class lock_type, class clock, class duration>
  std::cv_status wait_until(lock_type& lock, const std::chrono::time_point<clock, duration>& deadline) {
    parked<> sleeper;
    enlist(sleeper);
    lock.unlock();
    const bool is_notified = detail::wait_until(sleeper, detail::deadline_at(deadline), wait_reason::condition, this,
                                                [this](waiter& queued) noexcept { return remove(queued); });
    lock.lock();
    return is_notified ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class lock_type, class clock, class duration, class predicate>
  bool wait_until(lock_type& lock, const std::chrono::time_point<clock, duration>& deadline, predicate is_met) {
    while (!is_met())
      if (wait_until(lock, deadline) == std::cv_status::timeout) return is_met();
    return true;
  }
  template <class lock_type, class rep, class period>
  std::cv_status wait_for(lock_type& lock, const std::chrono::duration<rep, period>& time) {
    return wait_until(lock, detail::deadline_after(time));
  }
  template <class lock_type, class rep, class period, class predicate>
  bool wait_for(lock_type& lock, const std::chrono::duration<rep, period>& time, predicate is_met) {
    return wait_until(lock, detail::deadline_after(time), std::move(is_met));
  }

  // Until it is met, stop is requested or it is too late: whether it is met then.
  template <class lock_type, class clock, class duration, class predicate>
  bool wait_until(lock_type& lock, const std::stop_token& stop, const std::chrono::time_point<clock, duration>& deadline,
                  predicate is_met) {
    while (!stop.stop_requested()) {
      if (is_met()) return true;
      parked<> sleeper;
      enlist(sleeper);
      lock.unlock();
      const detail::wait_end end = detail::wait_until(stop, sleeper, detail::deadline_at(deadline), wait_reason::condition,
                                                      this, [this](waiter& queued) noexcept { return remove(queued); });
      lock.lock();
      if (end == detail::wait_end::late) break;
    }
    return is_met();
  }
  template <class lock_type, class rep, class period, class predicate>
  bool wait_for(lock_type& lock, const std::stop_token& stop, const std::chrono::duration<rep, period>& time,
                predicate is_met) {
    return wait_until(lock, stop, detail::deadline_after(time), std::move(is_met));
  }

  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  void enlist(waiter& waiting) noexcept {
    const std::lock_guard guard(m_lock);
    m_waiting.push(waiting);
  }
  bool remove(waiter& waiting) noexcept {
    const std::lock_guard guard(m_lock);
    return m_waiting.remove(waiting);
  }

  base::spin_lock m_lock;
  wait_queue m_waiting;
};

using condition_variable_any = condition_variable;

}  // namespace trimtab::tasks

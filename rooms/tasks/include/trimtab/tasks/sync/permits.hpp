// A number of permits, handed to who waits in the order in which they came: what mutexes and semaphores are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/early_end.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks::detail {

class permits {
 public:
  explicit constexpr permits(std::int64_t count) noexcept : m_count(count) {}

  bool try_acquire_one() noexcept {
    std::int64_t available = m_count.load(std::memory_order_relaxed);
    while (available > 0)
      if (m_count.compare_exchange_weak(available, available - 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    return false;
  }

  // reason, object: for reports about tasks that wait.
  void acquire_one(wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) [[likely]]
      return;
    parked<> sleeper;
    if (enlist(sleeper)) sleeper.notified.wait(reason, object);
  }

  bool acquire_until(timer::clock::time_point deadline, wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) return true;
    parked<> sleeper;
    return !enlist(sleeper) ||
           wait_until(sleeper, deadline, reason, object, [this](waiter& queued) noexcept { return remove(queued); });
  }

  // False: stop was requested before there was one.
  bool acquire_unless(const std::stop_token& stop, wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) return true;
    parked<> sleeper;
    return !enlist(sleeper) ||
           wait_unless(stop, sleeper, reason, object, [this](waiter& queued) noexcept { return remove(queued); });
  }

  // True: `waiting` will be notified when it has a permit. False: it has one now.
  bool acquire_or_enlist(waiter& waiting) noexcept {
    return m_count.fetch_sub(1, std::memory_order_acquire) <= 0 && enlist(waiting);
  }
  // True: `waiting` will not be notified, and has no permit.
  bool remove(waiter& waiting) noexcept;

  // Returns how many there were; below 0: so many waited.
  std::int64_t release(std::int64_t count = 1) noexcept {
    const std::int64_t previous = m_count.fetch_add(count, std::memory_order_release);
    if (previous < 0) [[unlikely]]
      hand_over(previous + count < 0 ? count : -previous);
    return previous;
  }

 private:
  bool enlist(waiter& waiting) noexcept;
  void hand_over(std::int64_t count) noexcept;

  // Below 0: so many wait, or are about to.
  std::atomic<std::int64_t> m_count;
  base::spin_lock m_lock;
  std::int64_t m_handed = 0;  // for those that are counted as waiting but have not been enlisted yet
  wait_queue m_waiting;
};

class permit_awaiter : public resumer<> {
 public:
  permit_awaiter(permits& source, recording::cause reason) noexcept : resumer<>(reason), m_permits(source) {}
  bool await_ready() const noexcept { return m_permits.try_acquire_one(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> coroutine) {
    return wait_if(coroutine, [&](waiter& self) { return m_permits.acquire_or_enlist(self); });
  }
  void await_resume() const noexcept {}

 private:
  permits& m_permits;
};

struct permit_source {
  permits& available;
  bool is_available() noexcept { return available.try_acquire_one(); }
  bool enlist(waiter& waiting) noexcept { return available.acquire_or_enlist(waiting); }
  bool remove(waiter& waiting) noexcept { return available.remove(waiting); }
};
using stoppable_permit_awaiter = stoppable_resumer<permit_source>;

}  // namespace trimtab::tasks::detail

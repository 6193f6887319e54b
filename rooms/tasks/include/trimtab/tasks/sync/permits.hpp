// A number of permits, handed to who waits in the order in which they came: what mutexes and semaphores are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/sync/early_end.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks::detail {

class permits {
 public:
  explicit constexpr permits(std::int64_t count) noexcept : m_count(count) {}

  bool try_take() noexcept {
    std::int64_t known = m_count.load(std::memory_order_relaxed);
    while (known > 0)
      if (m_count.compare_exchange_weak(known, known - 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return false;
  }

  // reason, object: for reports about tasks that wait.
  void take(wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) [[likely]]
      return;
    parked<> here;
    if (enlist(here)) here.told.wait(reason, object);
  }

  bool take_until(timer::clock::time_point deadline, wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) return true;
    parked<> here;
    return !enlist(here) || wait_until(here, deadline, reason, object, [this](waiter& who) noexcept { return remove(who); });
  }

  // False: stop was requested before there was one.
  bool take_unless(const std::stop_token& stop, wait_reason reason, const void* object) {
    if (m_count.fetch_sub(1, std::memory_order_acquire) > 0) return true;
    parked<> here;
    return !enlist(here) || wait_unless(stop, here, reason, object, [this](waiter& who) noexcept { return remove(who); });
  }

  // True: `who` will be told when it has one. False: it has one.
  bool take_or_enlist(waiter& who) noexcept { return m_count.fetch_sub(1, std::memory_order_acquire) <= 0 && enlist(who); }
  // True: `who` will not be told, and has none.
  bool remove(waiter& who) noexcept;

  // Returns how many there were; below 0: so many waited.
  std::int64_t give(std::int64_t more = 1) noexcept {
    const std::int64_t before = m_count.fetch_add(more, std::memory_order_release);
    if (before < 0) [[unlikely]]
      hand_over(before + more < 0 ? more : -before);
    return before;
  }

 private:
  bool enlist(waiter& who) noexcept;
  void hand_over(std::int64_t count) noexcept;

  // Below 0: so many wait, or are about to.
  std::atomic<std::int64_t> m_count;
  base::spin_lock m_lock;
  std::int64_t m_handed = 0;  // for those that are counted as waiting but have not been enlisted yet
  wait_queue m_waiting;
};

class permit_awaiter : public resumer<> {
 public:
  permit_awaiter(permits& of, recording::cause why) noexcept : resumer<>(why), m_of(of) {}
  bool await_ready() const noexcept { return m_of.try_take(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> who) {
    return wait_if(who, [&](waiter& self) { return m_of.take_or_enlist(self); });
  }
  void await_resume() const noexcept {}

 private:
  permits& m_of;
};

struct permit_source {
  permits& of;
  bool is_had() noexcept { return of.try_take(); }
  bool enlist(waiter& who) noexcept { return of.take_or_enlist(who); }
  bool remove(waiter& who) noexcept { return of.remove(who); }
};
using stoppable_permit_awaiter = stoppable_resumer<permit_source>;

}  // namespace trimtab::tasks::detail

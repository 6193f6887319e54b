// A barrier as of the standard library: opens each time that all who take part have arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/core/misuse.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/early_end.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks {

namespace detail {
struct no_step {
  void operator()() const noexcept {}
};
}  // namespace detail

// step(): called by the last who arrives, before anyone goes on. Must not throw.
template <class step = detail::no_step>
class barrier {
 public:
  class arrival_token {
    friend class barrier;
    explicit arrival_token(std::uint64_t arrival_phase) noexcept : phase(arrival_phase) {}
    std::uint64_t phase;
  };

  explicit barrier(std::ptrdiff_t expected, step at_end = {})
      : m_expected(expected), m_left(expected), m_step(std::move(at_end)) {}

  [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) noexcept { return arrived(count, 0); }

  void wait(arrival_token&& token) {
    parked<> sleeper;
    if (enlist(sleeper, token.phase)) sleeper.notified.wait(wait_reason::barrier, this);
  }
  // False: stop was requested before all had arrived. Who has arrived has, and may wait for it again.
  bool wait(arrival_token&& token, const std::stop_token& stop) { return wait_unless(token.phase, stop, 0); }

  void arrive_and_wait() { wait(arrive()); }
  // False: stop was requested before all had arrived. Then this has not arrived either: the others wait for it, until it
  // comes again or drops out (arrive_and_drop).
  bool arrive_and_wait(const std::stop_token& stop) { return wait_unless(arrive().phase, stop, 1); }
  // For coroutines: co_await b.arrive_and_wait_async(stop), with the same result.
  auto arrive_and_wait_async(std::stop_token stop = {}) noexcept {
    return detail::stoppable_resumer<arrival>(recording::cause::barrier, std::move(stop), *this);
  }
  void arrive_and_drop() noexcept { static_cast<void>(arrived(1, 1)); }

 private:
  struct arrival {
    barrier& owner;
    bool is_available() const noexcept { return false; }
    bool enlist(waiter& waiting) noexcept { return owner.enlist(waiting, owner.arrive().phase); }
    bool remove(waiter& waiting) noexcept { return owner.remove(waiting, 1); }
  };

  // False: all have arrived.
  bool enlist(waiter& waiting, std::uint64_t phase) noexcept {
    const std::lock_guard guard(m_lock);
    if (m_phase != phase) return false;
    m_waiting.push(waiting);
    return true;
  }
  // With so many arrivals, which then have not been. False: all have arrived, so that it is or will be told.
  bool remove(waiter& waiting, std::ptrdiff_t arrivals) noexcept {
    const std::lock_guard guard(m_lock);
    if (m_left == 0 || !m_waiting.remove(waiting)) return false;
    m_left += arrivals;
    return true;
  }
  bool wait_unless(std::uint64_t phase, const std::stop_token& stop, std::ptrdiff_t arrivals) {
    parked<> sleeper;
    if (!enlist(sleeper, phase)) return true;
    return detail::wait_unless(stop, sleeper, wait_reason::barrier, this,
                               [this, arrivals](waiter& queued) noexcept { return remove(queued, arrivals); });
  }

  arrival_token arrived(std::ptrdiff_t count, std::ptrdiff_t dropped) noexcept {
    std::unique_lock guard(m_lock);
    const arrival_token token(m_phase);
    m_expected -= dropped;
    m_left -= count;
    if (m_left < 0) [[unlikely]]
      detail::misused("more arrivals at a barrier than it expects", this);
    if (m_left != 0) return token;
    // All have arrived: nobody else can until the phase ends.
    guard.unlock();
    m_step();
    guard.lock();
    m_phase += 1;
    m_left = m_expected;
    waiter* const woken = m_waiting.pop_all();
    guard.unlock();
    waiter::notify_all(woken);
    return token;
  }

  base::spin_lock m_lock;
  std::ptrdiff_t m_expected;
  std::ptrdiff_t m_left;
  std::uint64_t m_phase = 0;
  wait_queue m_waiting;
  step m_step;
};

}  // namespace trimtab::tasks

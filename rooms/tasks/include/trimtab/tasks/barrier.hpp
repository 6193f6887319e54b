// A barrier as of the standard library: opens each time that all who take part have arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/wait_queue.hpp"

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
    explicit arrival_token(std::uint64_t in) noexcept : phase(in) {}
    std::uint64_t phase;
  };

  explicit barrier(std::ptrdiff_t expected, step at_end = {})
      : m_expected(expected), m_left(expected), m_step(std::move(at_end)) {}

  [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) noexcept { return arrived(count, 0); }

  void wait(arrival_token&& of) {
    parked<> here;
    {
      const std::lock_guard guard(m_lock);
      if (m_phase != of.phase) return;
      m_waiting.push(here);
    }
    here.told.wait("a barrier", this);
  }

  void arrive_and_wait() { wait(arrive()); }
  void arrive_and_drop() noexcept { static_cast<void>(arrived(1, 1)); }

 private:
  arrival_token arrived(std::ptrdiff_t count, std::ptrdiff_t dropped) noexcept {
    std::unique_lock guard(m_lock);
    const arrival_token token(m_phase);
    m_expected -= dropped;
    m_left -= count;
    if (m_left != 0) return token;
    // All have arrived: nobody else can until the phase ends.
    guard.unlock();
    m_step();
    guard.lock();
    m_phase += 1;
    m_left = m_expected;
    waiter* const all = m_waiting.take_all();
    guard.unlock();
    waiter::tell_all(all);
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

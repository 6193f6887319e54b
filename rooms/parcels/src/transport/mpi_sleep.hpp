// Where one thread sleeps until others have something for it, without losing a wake-up.
//
//   sleeper: announce(), look for work, then sleep() if there is none, withdraw() otherwise
//   others:  publish work, wake_if_asleep()
//
// All operations on the word are sequentially consistent, and so must be those that publish work and look for it: either the
// sleeper sees the work, or the other thread sees that it is about to sleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::parcels::mpi {

class sleep_word {
 public:
  // Ends the present sleep, or makes the next announce() false. Async-signal-safe.
  void wake() noexcept;
  void wake_if_asleep() noexcept {
    if (m_word.load() == asleep) wake_sleeper();
  }

  // False: wake() was called, and there is nothing to withdraw.
  bool announce() noexcept;
  void sleep(std::uint64_t ns) noexcept;
  void withdraw() noexcept { m_word.store(awake); }

 private:
  static constexpr std::uint32_t awake = 0, woken = 1, asleep = 2;
  void wake_sleeper() noexcept;
  std::atomic<std::uint32_t> m_word{awake};
};

}  // namespace trimtab::parcels::mpi

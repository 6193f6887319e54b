// Where one thread sleeps until others, also of other processes, ring. The word is in memory that they share.
//
// asleep: the owner sleeps or is about to. Whoever changes that word from asleep to something else wakes the owner up.
// rung: wake() was called while nobody slept; the next sleep ends at once.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::parcels {

class doorbell {
 public:
  explicit doorbell(std::atomic<std::uint32_t>& word) noexcept : m_word(word) {}

  // The owner, in this order: begin_sleep; a heavy fence; a last look at what it waits for; sleep, unless there is
  // something; and end_sleep. Whoever has something for it makes that visible, then a light fence, and then calls
  // ring_if_asleep. So at least one of the two sees what the other has done. False: it was rung, and need not sleep.
  bool begin_sleep() noexcept {
    std::uint32_t expected = awake;
    return m_word.compare_exchange_strong(expected, asleep, std::memory_order_seq_cst);
  }
  // Until it is rung, at most `ns` nanoseconds; may return for no reason.
  void sleep(std::uint64_t ns) noexcept;
  void end_sleep() noexcept { m_word.exchange(awake, std::memory_order_acquire); }

  void ring_if_asleep() noexcept {
    if (m_word.load(std::memory_order_relaxed) == asleep) [[unlikely]]
      end_sleep_of_owner();
  }
  // Async-signal-safe.
  void wake() noexcept;

 private:
  static constexpr std::uint32_t awake = 0, asleep = 1, rung = 2;
  void end_sleep_of_owner() noexcept;

  std::atomic<std::uint32_t>& m_word;
};

// The same system calls for other words that processes share. Neither changes errno.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t ns) noexcept;
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace trimtab::parcels

// For how long at least one of several has been active, read consistently by any of them at any time: how many are,
// and the sum of the phases that have ended less the begin of the one under way, in one atomic word.
//
//   bits 63..52: how many are active        bits 51..0: ended phases - begin of the present one, in units, mod 2^52
//
// A unit is 16 ticks (5 ns at 3 GHz): good for half a year of a process's life.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::observe {

class activity {
 public:
  // Of times from `start` on. Before any of the others.
  void reset(base::ticks start) noexcept {
    m_start = start;
    m_word.store(0, std::memory_order_relaxed);
  }

  // True: it was the first to become active.
  bool enter(base::ticks at) noexcept {
    std::uint64_t old = m_word.load(std::memory_order_relaxed);
    while (!m_word.compare_exchange_weak(old, pack(count_of(old) + 1, count_of(old) == 0 ? old - units(at) : old),
                                         std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return count_of(old) == 0;
  }

  // True: it was the last that was active.
  bool leave(base::ticks at) noexcept {
    std::uint64_t old = m_word.load(std::memory_order_relaxed);
    while (!m_word.compare_exchange_weak(old, pack(count_of(old) - 1, count_of(old) == 1 ? old + units(at) : old),
                                         std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return count_of(old) == 1;
  }

  // Ticks until `at` during which any was active.
  base::ticks until(base::ticks at) const noexcept {
    const std::uint64_t word = m_word.load(std::memory_order_acquire);
    const std::uint64_t sum = (count_of(word) == 0 ? word : word + units(at)) & sum_mask;
    // Below zero: `at` was read before the phase under way began.
    return sum >> (sum_bits - 1) != 0 ? 0 : sum << unit_bits;
  }

 private:
  static constexpr unsigned sum_bits = 52;
  static constexpr unsigned unit_bits = 4;
  static constexpr std::uint64_t sum_mask = (std::uint64_t{1} << sum_bits) - 1;

  static std::uint64_t count_of(std::uint64_t word) noexcept { return word >> sum_bits; }
  static std::uint64_t pack(std::uint64_t count, std::uint64_t sum) noexcept { return count << sum_bits | (sum & sum_mask); }
  std::uint64_t units(base::ticks at) const noexcept { return (at - m_start) >> unit_bits; }

  alignas(64) std::atomic<std::uint64_t> m_word{0};
  base::ticks m_start = 0;
};

}  // namespace trimtab::observe

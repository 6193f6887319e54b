// How long instances of a loop or region took: from the program's threads to the steering thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "trimtab/base/clock.hpp"

namespace trimtab::openmp {

// Instances that belong together: one long one, or several short ones, so that one clock read more or less and one wake-up
// count little.
struct site_measurement {
  std::uint64_t under;   // the decision on it that was in force
  std::uint64_t beside;  // and the latest on others that take part: the loops of a region, or the region of a loop
  base::ticks took;
  std::uint64_t iterations;
  std::uint64_t instances;
  base::ticks unwatched;  // what others took that are taken to be like them
};

// Zero bytes are an empty one.
class measurement_ring {
 public:
  // By one thread at a time. What is gathered goes on its way when it has taken so long.
  void add(const site_measurement& measured, double enough) noexcept {
    site_measurement& sum = m_gathered;
    if (sum.instances != 0 && (sum.under != measured.under || sum.beside != measured.beside)) sum = {};
    sum.under = measured.under;
    sum.beside = measured.beside;
    sum.took += measured.took;
    sum.iterations += measured.iterations;
    sum.instances += measured.instances;
    sum.unwatched += measured.unwatched;
    if (static_cast<double>(sum.took) < enough) return;
    const std::uint32_t next = m_written.load(std::memory_order_relaxed);
    if (next - m_read.load(std::memory_order_acquire) < size) {
      m_ring[next % size] = sum;
      m_written.store(next + 1, std::memory_order_release);
    }
    sum = {};
  }
  // By the steering thread. False: there is nothing new.
  bool take(site_measurement& measured) noexcept {
    const std::uint32_t next = m_read.load(std::memory_order_relaxed);
    if (next == m_written.load(std::memory_order_acquire)) return false;
    measured = m_ring[next % size];
    m_read.store(next + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::uint32_t size = 128;
  site_measurement m_gathered;
  std::atomic<std::uint32_t> m_written, m_read;
  site_measurement m_ring[size];
};

}  // namespace trimtab::openmp

// How the parts of outermost regions use the CPU: of one part now and then its thread asks the kernel, before and after it.
// That costs half a microsecond, so a lane does so once a millisecond at most.
#pragma once

#include "trimtab/base/clock.hpp"
#include "trimtab/observe/cpu_usage.hpp"
#include "trimtab/observe/lane.hpp"

namespace trimtab::openmp {

// Of one lane.
class cpu_sampling {
 public:
  static constexpr double mean_gap_ns = 1'000'000;  // from the begin of a sampled part to where the next one may begin

  // A part of an outermost region begins. Returns when it began: later, if the kernel was asked.
  base::ticks begins(base::ticks now) noexcept {
    if (now < m_next) [[likely]]
      return now;
    return begins_sampled(now);
  }
  // It ends on the same lane.
  void ends(observe::lane& on, std::uint32_t subject, base::ticks begin, base::ticks end) noexcept {
    if (m_sampled == begin) [[unlikely]]
      ends_sampled(on, subject, end);
  }

 private:
  base::ticks begins_sampled(base::ticks now) noexcept;
  void ends_sampled(observe::lane& on, std::uint32_t subject, base::ticks end) noexcept;

  base::ticks m_next = 0;
  base::ticks m_sampled = 0;  // when the sampled part began that is under way; 0: there is none
  std::uint64_t m_drawn = 0;
  observe::cpu_usage m_before = {};
};

}  // namespace trimtab::openmp

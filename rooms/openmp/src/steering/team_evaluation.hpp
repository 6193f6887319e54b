// What the published policies (steer/fitting/asat_*.hpp) need measured: a team of our own that does nothing for the program,
// between two of its regions.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtimes.hpp"

namespace trimtab::openmp {

enum class evaluation_kind : std::uint8_t { none, barrier, iterations };

struct evaluation {
  std::uint64_t number = 0;  // how many there were
  std::uint32_t members = 0;
  double passage_s = 0;      // barrier: last member out less first in
  std::uint32_t spread = 0;  // iterations: most less least a member
};

// By the steering thread: at the next region, with so many members (0: as many as that has).
void ask_for_evaluation(evaluation_kind kind, std::uint32_t members) noexcept;
evaluation latest_evaluation() noexcept;

extern std::atomic<evaluation_kind> evaluation_due;
void evaluate(const caller& from, std::uint32_t own) noexcept;
// By the thread that forks. own: the program's own number of members, beyond which there is none.
inline void evaluate_if_due(const caller& from, std::uint32_t own) noexcept {
  if (evaluation_due.load(std::memory_order_acquire) != evaluation_kind::none) [[unlikely]]
    evaluate(from, own);
}

}  // namespace trimtab::openmp

// How work is divided, and random numbers. Nothing here needs Trimtab: the same programs in plain MPI
// (benchmarks/peers/mpi) use it, too.
#pragma once

#include <cstdint>

namespace workload {

// A part of 0 to count - 1: that of one of `parts` localities.
struct span_of_items {
  std::int64_t first, last;  // without `last`
  std::int64_t size() const noexcept { return last - first; }
};
inline span_of_items part_of(std::int64_t count, std::int64_t part, std::int64_t parts) noexcept {
  return {count * part / parts, count * (part + 1) / parts};
}

// splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
inline std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

}  // namespace workload

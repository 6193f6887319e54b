// Which bins are counted up, and what the serial histogram is. Needs no Trimtab: the same programs in plain MPI use it.
#pragma once

#include <cstdint>
#include <vector>

#include "parts.hpp"

namespace workload::histogram {

inline std::uint64_t bin_of(std::uint64_t drawer, std::uint64_t update, std::uint64_t bins) {
  return mixed(drawer << 40 | update) % bins;
}

// Bin b is at locality b % size, there b / size.
struct owner {
  std::uint64_t number, size;
};

// Bins of this locality that differ from the serial result. count_at(index): what was counted in its bin `index`.
template <class function>
std::uint64_t count_wrong(owner own, std::uint64_t updates, std::uint64_t bins, function&& count_at) {
  std::vector<std::uint64_t> serial(bins);
  for (std::uint64_t drawer = 0; drawer < own.size; ++drawer)
    for (std::uint64_t update = 0; update < updates; ++update) ++serial[bin_of(drawer, update, bins)];
  std::uint64_t wrong = 0;
  for (std::uint64_t bin = own.number; bin < bins; bin += own.size) wrong += count_at(bin / own.size) != serial[bin];
  return wrong;
}

}  // namespace workload::histogram

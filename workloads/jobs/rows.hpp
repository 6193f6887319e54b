// What the solvers of equations on a square need of the other localities. Needs no Trimtab: the same programs in plain MPI
// use these solvers, too.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace workload {

// The rows of the neighbours beside one's own; empty beyond the first and the last locality.
struct ghost_rows {
  std::vector<double> lower, upper;
};

// exchange: gives the first row to the locality before, the last one to the next, and takes theirs. All call it equally
// often. sum: of all localities.
struct row_network {
  std::function<ghost_rows(std::span<const double> rows, std::size_t width)> exchange;
  std::function<double(double)> sum;
};

// Without other localities.
inline row_network no_network() {
  return {[](std::span<const double>, std::size_t) { return ghost_rows{}; }, [](double value) { return value; }};
}

}  // namespace workload

// Exchange of edges between neighbours: each locality puts what a neighbour needs into a channel there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trimtab/parcels.hpp"

namespace workload {

enum class side : std::uint8_t { lower, upper };  // of the receiver

// A neighbour is at most one step ahead: its values of step n + 2 need those of step n + 1 from here. So two channels for
// each side are enough, although posts may overtake each other.
struct ghost_channels {
  trimtab::channel<std::vector<double>> lower[2] = {trimtab::channel<std::vector<double>>(1),
                                                    trimtab::channel<std::vector<double>>(1)};
  trimtab::channel<std::vector<double>> upper[2] = {trimtab::channel<std::vector<double>>(1),
                                                    trimtab::channel<std::vector<double>>(1)};
  trimtab::channel<std::vector<double>>& of(side which, std::int64_t step) {
    return (which == side::lower ? lower : upper)[step % 2];
  }
};

// There before main, so that the first values of a faster neighbour have a place.
inline ghost_channels ghosts_here;

inline void put_ghost(side which, std::int64_t step, std::vector<double> values) {
  ghosts_here.of(which, step).send(std::move(values));
}
inline void send_ghost(trimtab::locality neighbour, side which, std::int64_t step, std::vector<double> values) {
  trimtab::post(neighbour, put_ghost, which, step, std::move(values));
}
inline std::vector<double> receive_ghost(side which, std::int64_t step) {
  return ghosts_here.of(which, step).receive().value();
}

}  // namespace workload

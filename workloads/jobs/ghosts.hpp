// Exchange of edges between neighbours: each locality puts what a neighbour needs into a channel there.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rows.hpp"
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

// Gives the first row to the locality before this one and the last row to the next one, and takes theirs. rows: at least
// one, of `width` values. Collective; step: how many times it has been called before.
inline ghost_rows exchange_rows(trimtab::job& job, std::span<const double> rows, std::size_t width, std::int64_t step) {
  const trimtab::locality_number own = job.here().number();
  const bool has_lower = own > 0, has_upper = own + 1 < job.size();
  const auto first = rows.first(width), last = rows.last(width);
  if (has_lower) send_ghost(job.at(own - 1), side::upper, step, {first.begin(), first.end()});
  if (has_upper) send_ghost(job.at(own + 1), side::lower, step, {last.begin(), last.end()});
  ghost_rows received;
  if (has_lower) received.lower = receive_ghost(side::lower, step);
  if (has_upper) received.upper = receive_ghost(side::upper, step);
  return received;
}

// For the solvers of rows.hpp. One for each job: it counts its steps.
inline row_network network_of(trimtab::job& job) {
  return {[&job, step = std::int64_t{0}](std::span<const double> rows, std::size_t width) mutable {
            return exchange_rows(job, rows, width, step++);
          },
          [&job](double value) { return job.all_reduce(value, std::plus<>()); }};
}

}  // namespace workload

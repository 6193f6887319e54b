// Long columns of numbers: their order, and where moments are in groups of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace trimtab::diagnosis {

// Writes the rows in the order of their keys; rows of equal keys stay in their order. `to` has as many places as there are
// keys. In time that grows with the rows where keys are spread, and fastest where they are nearly in order.
void order_of(std::span<const std::uint64_t> keys, std::span<std::int64_t> to);

// Rows by group and time, ascending: `first` has the first row of each group, and one behind the last.
struct grouped_times {
  std::span<const std::int64_t> time;
  std::span<const std::int64_t> first;
};

enum class bound : std::uint8_t { behind = 0, at_or_behind = 1 };

// The first row of the group behind a moment, or at it, too; one behind the group's last row where there is none. The cost
// grows with the logarithm of the group's rows, and is least where it is the last one.
std::int64_t first_row(const grouped_times& rows, std::size_t group, std::int64_t moment, bound edge);

// Of each of these ascending moments, the sum of what lies between it and all points before it. Fastest where points follow
// each other.
void sums_before(std::span<const std::int64_t> points, std::span<const std::int64_t> moments, std::span<std::int64_t> to);

// Writes the place of each value among the different values, and returns these, ascending. Empty where there are more than
// `most`: then the places mean nothing.
std::optional<std::vector<std::int64_t>> number_few(std::span<const std::int64_t> values, std::span<std::int64_t> places,
                                                    std::size_t most);

// The rows with the `most` largest numbers of each kind, by kind; largest first, of equal ones the first rows.
std::vector<std::int64_t> largest_of_kinds(std::span<const std::int32_t> kinds, std::span<const std::int64_t> numbers,
                                           std::size_t most);

}  // namespace trimtab::diagnosis

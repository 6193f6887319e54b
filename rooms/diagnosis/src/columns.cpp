#include "trimtab/diagnosis/columns.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

namespace trimtab::diagnosis {

namespace {

constexpr unsigned digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

struct keyed_row {
  std::uint64_t key;
  std::uint32_t row;
};

std::size_t digit_of(std::uint64_t key, unsigned shift) { return key >> shift & (digits - 1); }

// Stable: rows keep their order where this digit is equal.
void sort_by_digit(std::span<const keyed_row> from, std::span<keyed_row> to, unsigned shift) {
  std::array<std::size_t, digits> place{};
  for (const keyed_row& item : from) ++place[digit_of(item.key, shift)];
  std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
  for (const keyed_row& item : from) to[place[digit_of(item.key, shift)]++] = item;
}

}  // namespace

void order_of(std::span<const std::uint64_t> keys, std::span<std::int64_t> to) {
  std::iota(to.begin(), to.end(), std::int64_t{0});
  if (std::ranges::is_sorted(keys)) return;
  if (keys.size() > UINT32_MAX) {
    std::ranges::stable_sort(to, {}, [&](std::int64_t row) { return keys[static_cast<std::size_t>(row)]; });
    return;
  }
  std::uint64_t differing = 0;
  // Not cleared: there may be tens of millions.
  auto rows = std::make_unique_for_overwrite<keyed_row[]>(keys.size());
  auto other = std::make_unique_for_overwrite<keyed_row[]>(keys.size());
  for (std::size_t at = 0; at < keys.size(); ++at) {
    rows[at] = {keys[at], static_cast<std::uint32_t>(at)};
    differing |= keys[at] ^ keys[0];
  }
  for (unsigned shift = 0; shift < 64; shift += digit_bits) {
    if (digit_of(differing, shift) == 0) continue;
    sort_by_digit({rows.get(), keys.size()}, {other.get(), keys.size()}, shift);
    std::swap(rows, other);
  }
  std::transform(rows.get(), rows.get() + keys.size(), to.begin(), [](const keyed_row& item) { return std::int64_t{item.row}; });
}

std::int64_t first_row(const grouped_times& rows, std::size_t group, std::int64_t moment, bound edge) {
  std::int64_t low = rows.first[group], high = rows.first[group + 1];
  const auto is_early = [&](std::int64_t row) {
    const std::int64_t time = rows.time[static_cast<std::size_t>(row)];
    return edge == bound::behind ? time <= moment : time < moment;
  };
  // What is asked for is late in most groups.
  for (std::int64_t middle = high - 1; low < high; middle = low + (high - low) / 2) {
    if (is_early(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace trimtab::diagnosis

#include "trimtab/diagnosis/columns.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

namespace trimtab::diagnosis {

namespace {

struct keyed_row {
  std::uint64_t key;
  std::uint32_t row;
};

// So many rows are sorted by insertion.
constexpr std::ptrdiff_t few = 24;

void sort_few(std::span<keyed_row> rows) {
  for (std::size_t at = 1; at < rows.size(); ++at) {
    const keyed_row item = rows[at];
    std::size_t place = at;
    for (; place > 0 && rows[place - 1].key > item.key; --place) rows[place] = rows[place - 1];
    rows[place] = item;
  }
}

// About as many buckets as rows, by the first bits in which keys differ.
struct buckets {
  std::uint64_t least;
  unsigned shift = 0;
  std::vector<std::uint32_t> end;  // of each bucket

  explicit buckets(std::span<const std::uint64_t> keys) {
    const auto [low, high] = std::ranges::minmax(keys);
    least = low;
    while ((high - low) >> shift > 2 * keys.size()) ++shift;
    end.assign(((high - low) >> shift) + 1, 0);
    for (const std::uint64_t key : keys) ++end[of(key)];
    std::exclusive_scan(end.begin(), end.end(), end.begin(), std::uint32_t{0});
  }
  std::size_t of(std::uint64_t key) const { return (key - least) >> shift; }
};

}  // namespace

void order_of(std::span<const std::uint64_t> keys, std::span<std::int64_t> to) {
  std::iota(to.begin(), to.end(), std::int64_t{0});
  if (std::ranges::is_sorted(keys)) return;
  if (keys.size() > UINT32_MAX) {
    std::ranges::stable_sort(to, {}, [&](std::int64_t row) { return keys[static_cast<std::size_t>(row)]; });
    return;
  }
  buckets places(keys);
  // Not cleared: there may be tens of millions.
  const auto room = std::make_unique_for_overwrite<keyed_row[]>(keys.size());
  const std::span<keyed_row> rows(room.get(), keys.size());
  for (std::size_t at = 0; at < keys.size(); ++at)
    rows[places.end[places.of(keys[at])]++] = {keys[at], static_cast<std::uint32_t>(at)};
  auto begin = rows.begin();
  for (const std::uint32_t end : places.end) {
    const auto own = std::span(begin, rows.begin() + end);
    if (std::ssize(own) <= few)
      sort_few(own);
    else if (!std::ranges::is_sorted(own, {}, &keyed_row::key))
      std::ranges::stable_sort(own, {}, &keyed_row::key);
    begin = rows.begin() + end;
  }
  std::ranges::transform(rows, to.begin(), [](const keyed_row& item) { return std::int64_t{item.row}; });
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

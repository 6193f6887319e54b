#include "trimtab/diagnosis/columns.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
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

// Different values, numbered as they come: a table that is never more than half full.
class few_values {
 public:
  explicit few_values(std::size_t most)
      : m_most(most),
        m_slots(std::bit_ceil(2 * most + 2), nothing),
        m_shift(64U - static_cast<unsigned>(std::bit_width(m_slots.size() - 1))) {}

  // Empty where it is one too many.
  std::optional<std::size_t> number_of(std::int64_t value) {
    std::size_t slot = (static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15u) >> m_shift;
    for (; m_slots[slot] != nothing; slot = (slot + 1) % m_slots.size())
      if (m_values[m_slots[slot]] == value) return m_slots[slot];
    if (m_values.size() == m_most) return std::nullopt;
    m_slots[slot] = static_cast<std::uint32_t>(m_values.size());
    m_values.push_back(value);
    return m_values.size() - 1;
  }
  const std::vector<std::int64_t>& values() const { return m_values; }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  std::size_t m_most;
  std::vector<std::int64_t> m_values;
  std::vector<std::uint32_t> m_slots;  // numbers of values
  unsigned m_shift;
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

void sums_before(std::span<const std::int64_t> points, std::span<const std::int64_t> moments, std::span<std::int64_t> to) {
  // Of the points between each moment and the one before it: how many, and how far they lie before the moment in all.
  std::vector<std::int64_t> counts(moments.size(), 0), distances(moments.size(), 0);
  std::size_t at = 0;  // the first moment behind the point
  for (const std::int64_t point : points) {
    const bool is_same = (at == 0 || moments[at - 1] <= point) && (at == moments.size() || point < moments[at]);
    if (!is_same) at = static_cast<std::size_t>(std::ranges::upper_bound(moments, point) - moments.begin());
    if (at == moments.size()) continue;
    ++counts[at];
    distances[at] += moments[at] - point;
  }
  std::int64_t count = 0, sum = 0;
  for (std::size_t place = 0; place < moments.size(); ++place) {
    if (place > 0) sum += count * (moments[place] - moments[place - 1]);
    count += counts[place];
    to[place] = sum += distances[place];
  }
}

std::optional<std::vector<std::int64_t>> number_few(std::span<const std::int64_t> values, std::span<std::int64_t> places,
                                                    std::size_t most) {
  few_values known(most);
  for (std::size_t row = 0; row < values.size(); ++row) {
    const std::optional<std::size_t> number = known.number_of(values[row]);
    if (!number) return std::nullopt;
    places[row] = static_cast<std::int64_t>(*number);
  }
  std::vector<std::int64_t> different(known.values().begin(), known.values().end()), place(different.size());
  std::ranges::sort(different);
  for (std::size_t number = 0; number < place.size(); ++number)
    place[number] = std::ranges::lower_bound(different, known.values()[number]) - different.begin();
  for (std::int64_t& number : places) number = place[static_cast<std::size_t>(number)];
  return different;
}

std::vector<std::int64_t> largest_of_kinds(std::span<const std::int32_t> kinds, std::span<const std::int64_t> numbers,
                                           std::size_t most) {
  std::map<std::int32_t, std::vector<std::int64_t>> largest;
  std::vector<std::int64_t>* own = nullptr;
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    if (row == 0 || kinds[row] != kinds[row - 1]) own = &largest[kinds[row]];
    const auto is_smaller = [&](std::int64_t other) { return numbers[static_cast<std::size_t>(other)] < numbers[row]; };
    if (own->size() == most && !is_smaller(own->back())) continue;
    if (own->size() == most) own->pop_back();
    own->insert(std::ranges::find_if(*own, is_smaller), static_cast<std::int64_t>(row));
  }
  std::vector<std::int64_t> rows;
  for (const auto& [kind, own_rows] : largest) rows.insert(rows.end(), own_rows.begin(), own_rows.end());
  return rows;
}

}  // namespace trimtab::diagnosis

// What the sorts do with a range that is not shared: std::sort and std::stable_sort; and for numbers, whose comparison is
// one instruction, a quicksort whose partitions do not branch on what they compare: half of these branches would be
// predicted wrongly, which is most of the time that std::sort takes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace trimtab::tasks::detail {

enum class sort_kind : bool { any, stable };

template <class value, class compare>
inline constexpr bool is_plain_order =
    std::is_same_v<compare, std::less<>> || std::is_same_v<compare, std::less<value>> ||
    std::is_same_v<compare, std::greater<>> || std::is_same_v<compare, std::greater<value>>;

// Equal numbers cannot be told apart, but for zeros of floating point, whose order only a stable sort may be asked for.
template <sort_kind kind, class iterator, class compare>
concept sorts_numbers = std::contiguous_iterator<iterator> && std::is_arithmetic_v<std::iter_value_t<iterator>> &&
                        std::is_same_v<std::iter_reference_t<iterator>, std::iter_value_t<iterator>&> &&
                        is_plain_order<std::iter_value_t<iterator>, compare> &&
                        (kind == sort_kind::any || std::is_integral_v<std::iter_value_t<iterator>>);

// Of numbers that compare as they like (NaN): every loop stays within the range and ends.
template <class value, class compare>
class number_sorter {
 public:
  explicit number_sorter(compare& less) noexcept : m_less(less) {}

  void sort(value* first, value* last) const {
    if (last - first < 2 || is_in_order(first, last)) return;
    run(first, last, 2 * static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first))));
  }

 private:
  static constexpr std::ptrdiff_t shortest = 24;  // is partitioned
  static constexpr std::ptrdiff_t of_nine = 512;  // from here on the pivot is the middle of nine

  // Rising, or falling, which is turned round.
  bool is_in_order(value* first, value* last) const {
    if (std::is_sorted(first, last, m_less)) return true;
    if (!std::is_sorted(first, last, [this](value a, value b) { return m_less(b, a); })) return false;
    std::reverse(first, last);
    return true;
  }

  // levels: left until it is clear that the pivots are bad.
  void run(value* first, value* last, int levels) const {
    for (; last - first > shortest; --levels) {
      if (levels == 0) {
        std::make_heap(first, last, m_less);
        std::sort_heap(first, last, m_less);
        return;
      }
      const value pivot = pivot_of(first, last);
      value* const middle = partition(first, last, [&](value each) { return m_less(each, pivot); });
      if (middle == first) {
        // Nothing is less: what equals it is in its place.
        first = partition(first, last, [&](value each) { return !m_less(pivot, each); });
      } else if (middle - first < last - middle) {
        run(first, middle, levels - 1);
        first = middle;
      } else {
        run(middle, last, levels - 1);
        last = middle;
      }
    }
    insert(first, last);
  }

  value middle_of(value a, value b, value c) const {
    if (m_less(b, a)) std::swap(a, b);
    if (m_less(c, b)) b = c;
    return m_less(b, a) ? a : b;
  }
  value pivot_of(const value* first, const value* last) const {
    const std::ptrdiff_t count = last - first, step = count / 8;
    const value* const at = first + count / 2;
    if (count < of_nine) return middle_of(*first, *at, last[-1]);
    return middle_of(middle_of(*first, first[step], first[2 * step]), middle_of(at[-step], *at, at[step]),
                     middle_of(last[-1 - 2 * step], last[-1 - step], last[-1]));
  }

  // Those that belong in front; returns their end.
  template <class predicate>
  static value* partition(value* first, value* last, predicate&& is_in_front) {
    value* front = first;
    for (value* each = first; each != last; ++each) {
      const value here = *each;
      *each = *front;
      *front = here;
      front += is_in_front(here);
    }
    return front;
  }

  void insert(value* first, value* last) const {
    for (value* each = first; each != last; ++each) {
      const value here = *each;
      value* hole = each;
      for (; hole != first && m_less(here, hole[-1]); --hole) *hole = hole[-1];
      *hole = here;
    }
  }

  compare& m_less;
};

template <sort_kind kind, class iterator, class compare>
void sort_here(iterator first, iterator last, compare& less) {
  if constexpr (sorts_numbers<kind, iterator, compare>)
    number_sorter<std::iter_value_t<iterator>, compare>(less).sort(std::to_address(first), std::to_address(last));
  else if constexpr (kind == sort_kind::stable)
    std::stable_sort(first, last, less);
  else
    std::sort(first, last, less);
}

}  // namespace trimtab::tasks::detail

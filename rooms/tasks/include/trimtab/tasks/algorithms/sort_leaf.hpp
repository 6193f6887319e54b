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

enum class sort_kind : bool { unstable, stable };

template <class value, class compare>
inline constexpr bool is_plain_order =
    std::is_same_v<compare, std::less<>> || std::is_same_v<compare, std::less<value>> ||
    std::is_same_v<compare, std::greater<>> || std::is_same_v<compare, std::greater<value>>;

// Equal numbers cannot be told apart, but for zeros of floating point, whose order only a stable sort may be asked for.
template <sort_kind kind, class iterator, class compare>
concept sorts_numbers = std::contiguous_iterator<iterator> && std::is_arithmetic_v<std::iter_value_t<iterator>> &&
                        std::is_same_v<std::iter_reference_t<iterator>, std::iter_value_t<iterator>&> &&
                        is_plain_order<std::iter_value_t<iterator>, compare> &&
                        (kind == sort_kind::unstable || std::is_integral_v<std::iter_value_t<iterator>>);

// Of numbers that compare as they like (NaN): every loop stays within the range and ends.
template <class value, class compare>
class number_sorter {
 public:
  explicit number_sorter(compare& compare_less) noexcept : m_compare(compare_less) {}

  void sort(value* first, value* last) const {
    if (last - first < 2 || is_in_order(first, last)) return;
    run(first, last, 2 * static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first))));
  }

 private:
  static constexpr std::ptrdiff_t shortest = 24;  // is partitioned
  static constexpr std::ptrdiff_t of_nine = 512;  // from here on the pivot is the middle of nine

  // Rising, or falling, which is turned round.
  bool is_in_order(value* first, value* last) const {
    if (std::is_sorted(first, last, m_compare)) return true;
    if (!std::is_sorted(first, last, [this](value a, value b) { return m_compare(b, a); })) return false;
    std::reverse(first, last);
    return true;
  }

  // levels: left until it is clear that the pivots are bad.
  void run(value* first, value* last, int levels) const {
    for (; last - first > shortest; --levels) {
      if (levels == 0) {
        std::make_heap(first, last, m_compare);
        std::sort_heap(first, last, m_compare);
        return;
      }
      const value pivot = pivot_of(first, last);
      value* const middle = partition(first, last, [&](value element) { return m_compare(element, pivot); });
      if (middle == first) {
        // Nothing is less: what equals it is in its place.
        first = partition(first, last, [&](value element) { return !m_compare(pivot, element); });
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
    if (m_compare(b, a)) std::swap(a, b);
    if (m_compare(c, b)) b = c;
    return m_compare(b, a) ? a : b;
  }
  value pivot_of(const value* first, const value* last) const {
    const std::ptrdiff_t count = last - first, step = count / 8;
    const value* const middle = first + count / 2;
    if (count < of_nine) return middle_of(*first, *middle, last[-1]);
    return middle_of(middle_of(*first, first[step], first[2 * step]), middle_of(middle[-step], *middle, middle[step]),
                     middle_of(last[-1 - 2 * step], last[-1 - step], last[-1]));
  }

  // Those that belong in front; returns their end.
  template <class predicate>
  static value* partition(value* first, value* last, predicate&& is_in_front) {
    value* front = first;
    for (value* element = first; element != last; ++element) {
      const value current = *element;
      *element = *front;
      *front = current;
      front += is_in_front(current);
    }
    return front;
  }

  void insert(value* first, value* last) const {
    for (value* element = first; element != last; ++element) {
      const value current = *element;
      value* hole = element;
      for (; hole != first && m_compare(current, hole[-1]); --hole) *hole = hole[-1];
      *hole = current;
    }
  }

  compare& m_compare;
};

template <sort_kind kind, class iterator, class compare>
void sort_here(iterator first, iterator last, compare& compare_less) {
  if constexpr (sorts_numbers<kind, iterator, compare>)
    number_sorter<std::iter_value_t<iterator>, compare>(compare_less).sort(std::to_address(first), std::to_address(last));
  else if constexpr (kind == sort_kind::stable)
    std::stable_sort(first, last, compare_less);
  else
    std::sort(first, last, compare_less);
}

}  // namespace trimtab::tasks::detail

// sort, stable_sort: leaves sorted by the standard library, merged in parallel between the range and a buffer.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <new>

#include "trimtab/tasks/algorithm_engine.hpp"

namespace trimtab::tasks {

namespace detail {

enum class sort_kind : bool { any, stable };

// Raw memory for `count` values that the caller brings to life; they end with it. nullptr: there is no memory.
template <class value>
class sort_buffer {
 public:
  explicit sort_buffer(std::size_t count) noexcept
      : m_values(static_cast<value*>(::operator new(count * sizeof(value), std::align_val_t{alignof(value)}, std::nothrow))),
        m_count(count) {}
  ~sort_buffer() {
    if (m_values == nullptr) return;
    if (is_alive) std::destroy_n(m_values, m_count);
    ::operator delete(m_values, std::align_val_t{alignof(value)});
  }
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  value* values() const noexcept { return m_values; }
  bool is_alive = false;

 private:
  value* m_values;
  std::size_t m_count;
};

// A tree of merges over leaves, all at the same depth. Whatever the comparison does in a merge, throw or lie, each value
// stays in exactly one place: where it can no longer be asked, values are moved as they come.
template <sort_kind kind, class iterator, class compare>
class sorter {
 public:
  using value = std::iter_value_t<iterator>;

  sorter(iterator data, value* buffer, compare& less, loop_state& state, unsigned depth) noexcept
      : m_data(data), m_buffer(buffer), m_less(less), m_state(state), m_depth(depth) {}

  void run(std::size_t length) noexcept { sort_to_data(0, length, m_depth); }

  static constexpr std::size_t shortest_leaf = 1000;

 private:
  using offset = std::iter_difference_t<iterator>;

  iterator data(std::size_t i) const noexcept { return m_data + static_cast<offset>(i); }

  void leaf(std::size_t first, std::size_t last) noexcept {
    if (m_state.is_over()) return;
    m_state.guarded([&] {
      if constexpr (kind == sort_kind::stable)
        std::stable_sort(data(first), data(last), m_less);
      else
        std::sort(data(first), data(last), m_less);
    });
  }

  void sort_to_data(std::size_t first, std::size_t last, unsigned depth) noexcept {
    if (depth == 0) return leaf(first, last);
    const std::size_t middle = first + (last - first) / 2;
    invoke([&] { sort_to_buffer(first, middle, depth - 1); }, [&] { sort_to_buffer(middle, last, depth - 1); });
    merge<false>(m_buffer + first, m_buffer + middle, m_buffer + middle, m_buffer + last, data(first));
  }

  // The lowest that writes to the buffer brings its values to life.
  void sort_to_buffer(std::size_t first, std::size_t last, unsigned depth) noexcept {
    if (depth == 0) {
      leaf(first, last);
      std::uninitialized_move(data(first), data(last), m_buffer + first);
      return;
    }
    const std::size_t middle = first + (last - first) / 2;
    invoke([&] { sort_to_data(first, middle, depth - 1); }, [&] { sort_to_data(middle, last, depth - 1); });
    if (depth == 1)
      merge<true>(data(first), data(middle), data(middle), data(last), m_buffer + first);
    else
      merge<false>(data(first), data(middle), data(middle), data(last), m_buffer + first);
  }

  template <bool is_raw, class from, class to>
  void merge(from a, from a_end, from b, from b_end, to out) noexcept {
    const auto count = static_cast<std::size_t>((a_end - a) + (b_end - b));
    if (count > shortest_merge && !m_state.is_over()) {
      // Of the longer one the middle, of the other what goes before it; equal values of a go first.
      from a_middle = a + (a_end - a) / 2, b_middle = b + (b_end - b) / 2;
      bool is_cut = false;
      m_state.guarded([&] {
        if (a_end - a >= b_end - b)
          b_middle = std::lower_bound(b, b_end, *a_middle, m_less);
        else
          a_middle = std::upper_bound(a, a_end, *b_middle, m_less);
        is_cut = true;
      });
      if (is_cut) {
        invoke([&] { merge<is_raw>(a, a_middle, b, b_middle, out); },
               [&] { merge<is_raw>(a_middle, a_end, b_middle, b_end, out + ((a_middle - a) + (b_middle - b))); });
        return;
      }
    }
    if (!m_state.is_over() && a != a_end && b != b_end) {
      m_state.guarded([&] {
        // In order already?
        if (!m_less(*b, *(a_end - 1))) return;
        while (a != a_end && b != b_end) {
          const bool is_b = m_less(*b, *a);
          give<is_raw>(is_b ? b : a, out);
          ++out;
          b += is_b;
          a += !is_b;
        }
      });
    }
    for (; a != a_end; ++a, ++out) give<is_raw>(a, out);
    for (; b != b_end; ++b, ++out) give<is_raw>(b, out);
  }

  template <bool is_raw, class from, class to>
  static void give(const from& what, const to& where) {
    if constexpr (is_raw)
      std::construct_at(std::to_address(where), std::move(*what));
    else
      *where = std::move(*what);
  }

  static constexpr std::size_t shortest_merge = 16'384;

  iterator m_data;
  value* m_buffer;
  compare& m_less;
  loop_state& m_state;
  unsigned m_depth;
};

template <sort_kind kind, class iterator, class compare>
void sort_here(iterator first, iterator last, compare& less) {
  if constexpr (kind == sort_kind::stable)
    std::stable_sort(first, last, less);
  else
    std::sort(first, last, less);
}

template <sort_kind kind, class iterator, class compare>
void sort(const loop_options& how, iterator first, iterator last, compare& less) {
  using value = std::iter_value_t<iterator>;
  const auto length = static_cast<std::size_t>(last - first);
  // Only of what can be moved into raw memory without fail.
  constexpr bool is_movable = std::is_nothrow_move_constructible_v<value> && std::is_nothrow_move_assignable_v<value> &&
                              std::is_same_v<std::iter_reference_t<iterator>, value&>;
  loop_state state(how.stop);
  if (state.is_over()) state.check();
  if constexpr (is_movable) {
    using sorting = sorter<kind, iterator, compare>;
    if (length >= 2 * sorting::shortest_leaf)
      return on_worker([&] {
        const std::uint32_t workers = worker::current()->owner().active_workers();
        if (workers == 1 && !state.may_stop()) return sort_here<kind>(first, last, less);
        // Leaves take different times: four for each worker even that out.
        const std::size_t leaves = std::min<std::size_t>(4 * std::size_t{workers}, length / sorting::shortest_leaf);
        sort_buffer<value> buffer(length);
        if (buffer.values() == nullptr) return sort_here<kind>(first, last, less);
        sorting(first, buffer.values(), less, state, static_cast<unsigned>(std::bit_width(leaves - 1))).run(length);
        buffer.is_alive = true;
        state.check();
      });
  }
  sort_here<kind>(first, last, less);
}

}  // namespace detail

// As std::sort and std::stable_sort, with as much memory again. Also when less throws: what is left is in no order, and
// not all of it need be what was there.
template <detail::loop_how given, std::random_access_iterator iterator, class compare = std::less<>>
void sort(given&& how, iterator first, iterator last, compare less = {}) {
  detail::sort<detail::sort_kind::any>(detail::options_of(how), first, last, less);
}
template <std::random_access_iterator iterator, class compare = std::less<>>
void sort(iterator first, iterator last, compare less = {}) {
  detail::sort<detail::sort_kind::any>(loop_options{}, first, last, less);
}

template <detail::loop_how given, std::random_access_iterator iterator, class compare = std::less<>>
void stable_sort(given&& how, iterator first, iterator last, compare less = {}) {
  detail::sort<detail::sort_kind::stable>(detail::options_of(how), first, last, less);
}
template <std::random_access_iterator iterator, class compare = std::less<>>
void stable_sort(iterator first, iterator last, compare less = {}) {
  detail::sort<detail::sort_kind::stable>(loop_options{}, first, last, less);
}

}  // namespace trimtab::tasks

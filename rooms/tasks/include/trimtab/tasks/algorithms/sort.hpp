// sort, stable_sort: each value goes into one of some buckets, the lesser the earlier, all at the same time; then the
// buckets are sorted, each by itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "trimtab/base/hash.hpp"
#include "trimtab/tasks/algorithms/engine.hpp"
#include "trimtab/tasks/algorithms/sort_leaf.hpp"

namespace trimtab::tasks {

namespace detail {

// Raw memory for `count` values that the caller brings to life and ends.
template <class value>
class sort_buffer {
 public:
  explicit sort_buffer(std::size_t count) noexcept
      : m_values(
            static_cast<value*>(::operator new(count * sizeof(value), std::align_val_t{alignof(value)}, std::nothrow))) {}
  ~sort_buffer() {
    if (m_values != nullptr) ::operator delete(m_values, std::align_val_t{alignof(value)});
  }
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  // nullptr: there is no memory.
  value* values() const noexcept { return m_values; }

 private:
  value* m_values;
};

// Whatever the comparison does, throw or lie, each value stays in exactly one place: while it is asked nothing is moved,
// apart from the sorts of the buckets.
template <sort_kind kind, class iterator, class compare>
class bucket_sorter {
 public:
  using value = std::iter_value_t<iterator>;
  static constexpr std::size_t shortest = 4'000;  // is worth it

  // buffer, bucket_of: of `length`.
  bucket_sorter(iterator data, std::size_t length, value* buffer, std::uint8_t* bucket_of, compare& compare_less,
                loop_state& state, std::uint32_t workers)
      : m_data(data),
        m_length(length),
        m_buffer(buffer),
        m_bucket_of(bucket_of),
        m_compare(compare_less),
        m_state(state),
        m_workers(workers),
        // Several for each worker, since they are not of one length.
        m_levels(
            std::min(static_cast<int>(std::bit_width(std::min(8 * std::size_t{workers}, length / 500))) - 1, most_levels)),
        m_parts(std::min(4 * std::size_t{workers}, length / 1'000)),
        m_ends(m_parts << m_levels) {}

  // If the comparison throws, or it is stopped, before the buckets are sorted, nothing has moved.
  void run() {
    m_state.guarded([&] { choose(); });
    if (m_state.has_ended()) return;
    run_all(m_parts, [&](std::size_t part) { m_state.guarded([&] { classify(part); }); });
    if (m_state.has_ended()) return;
    add_up();
    run_all(m_parts, [&](std::size_t part) { move_out(part); });
    run_all(buckets(), [&](std::size_t bucket) { sort_bucket(bucket); });
  }

 private:
  using offset = std::iter_difference_t<iterator>;
  // What is between two buckets: a value, or where it is, since values need not be copied.
  static constexpr bool is_copied = std::is_trivially_copyable_v<value> && sizeof(value) <= 2 * sizeof(void*);
  using splitter = std::conditional_t<is_copied, value, iterator>;
  static constexpr int most_levels = 8;  // a byte tells the bucket
  static constexpr std::size_t samples_each = 24;

  iterator data(std::size_t i) const noexcept { return m_data + static_cast<offset>(i); }
  std::size_t buckets() const noexcept { return std::size_t{1} << m_levels; }
  std::size_t begin_of(std::size_t part) const noexcept {
    return m_length / m_parts * part + std::min(part, m_length % m_parts);
  }
  std::size_t& end_of(std::size_t part, std::size_t bucket) noexcept { return m_ends[part << m_levels | bucket]; }

  template <class function>
  void run_all(std::size_t count, function&& f) noexcept {
    std::atomic<std::size_t> begun{0};
    const auto width = static_cast<std::uint32_t>(std::min<std::size_t>(m_workers, count));
    at_workers(*worker::current(), m_state, width, [&](std::uint32_t) {
      for (std::size_t part; (part = begun.fetch_add(1, std::memory_order_relaxed)) < count;) f(part);
    });
  }

  static splitter splitter_at(iterator place) {
    if constexpr (is_copied)
      return *place;
    else
      return place;
  }
  static const value& value_of(const splitter& pivots) {
    if constexpr (is_copied)
      return pivots;
    else
      return *pivots;
  }

  // As a tree: that of node i has lesser values at 2 i, the others at 2 i + 1, i from 1 on.
  void choose() {
    std::vector<iterator> samples;
    samples.reserve(samples_each * buckets());
    for (std::size_t i = 0; i < samples_each * buckets(); ++i)
      samples.push_back(data(static_cast<std::size_t>(base::mix(i) % m_length)));
    std::sort(samples.begin(), samples.end(), [this](iterator a, iterator b) { return m_compare(*a, *b); });
    m_tree.assign(buckets(), splitter_at(m_data));
    for (std::size_t node = 1; node < buckets(); ++node) {
      const int level = static_cast<int>(std::bit_width(node)) - 1;
      const std::size_t width = samples.size() >> level;
      m_tree[node] = splitter_at(samples[(node - (std::size_t{1} << level)) * width + width / 2]);
    }
  }

  // To which bucket each value goes, and how many to each. Equal values go to the same one.
  void classify(std::size_t part) {
    std::array<std::size_t, std::size_t{1} << most_levels> counts{};
    const std::size_t last = begin_of(part + 1);
    for (std::size_t first = begin_of(part); first < last && !m_state.has_ended();) {
      for (const std::size_t end = std::min(first + 4096, last); first < end; ++first) {
        std::size_t node = 1;
        for (int level = 0; level < m_levels; ++level)
          node = 2 * node + static_cast<std::size_t>(static_cast<bool>(m_compare(value_of(m_tree[node]), *data(first))));
        m_bucket_of[first] = static_cast<std::uint8_t>(node - buckets());
        counts[node - buckets()] += 1;
      }
    }
    std::copy_n(counts.begin(), buckets(), &end_of(part, 0));
  }

  // From counts to where each part's values of each bucket begin in the buffer. Parts in their order: equal values keep
  // theirs.
  void add_up() noexcept {
    std::size_t sum = 0;
    for (std::size_t bucket = 0; bucket < buckets(); ++bucket)
      for (std::size_t part = 0; part < m_parts; ++part) sum += std::exchange(end_of(part, bucket), sum);
  }

  void move_out(std::size_t part) noexcept {
    std::array<std::size_t, std::size_t{1} << most_levels> to;
    std::copy_n(&end_of(part, 0), buckets(), to.begin());
    for (std::size_t i = begin_of(part); i < begin_of(part + 1); ++i)
      std::construct_at(m_buffer + to[m_bucket_of[i]]++, std::move(*data(i)));
    std::copy_n(to.begin(), buckets(), &end_of(part, 0));
  }

  void sort_bucket(std::size_t bucket) noexcept {
    const std::size_t first = bucket == 0 ? 0 : end_of(m_parts - 1, bucket - 1), last = end_of(m_parts - 1, bucket);
    if (!m_state.has_ended()) m_state.guarded([&] { sort_here<kind>(m_buffer + first, m_buffer + last, m_compare); });
    std::move(m_buffer + first, m_buffer + last, data(first));
    std::destroy(m_buffer + first, m_buffer + last);
  }

  iterator m_data;
  std::size_t m_length;
  value* m_buffer;
  std::uint8_t* m_bucket_of;
  compare& m_compare;
  loop_state& m_state;
  std::uint32_t m_workers;
  int m_levels;
  std::size_t m_parts;
  std::vector<splitter> m_tree;
  std::vector<std::size_t> m_ends;  // by part and bucket: counts, then begins, then ends of what the part has there
};

template <sort_kind kind, class iterator, class compare>
void sort(const algorithm_call& call, iterator first, iterator last, compare& compare_less) {
  using value = std::iter_value_t<iterator>;
  const auto length = static_cast<std::size_t>(last - first);
  // Only of what can be moved into raw memory without fail.
  constexpr bool is_movable = std::is_nothrow_move_constructible_v<value> && std::is_nothrow_move_assignable_v<value> &&
                              std::is_same_v<std::iter_reference_t<iterator>, value&>;
  loop_state state(call);
  if (state.has_ended()) state.check();
  if constexpr (is_movable) {
    using sorting = bucket_sorter<kind, iterator, compare>;
    if (length >= sorting::shortest)
      return on_worker(call, [&] {
        const std::uint32_t workers = worker::current()->owner().active_workers();
        if (workers == 1 && !state.may_stop()) return sort_here<kind>(first, last, compare_less);
        const sort_buffer<value> buffer(length);
        const sort_buffer<std::uint8_t> bucket_of(length);
        if (buffer.values() == nullptr || bucket_of.values() == nullptr) return sort_here<kind>(first, last, compare_less);
        sorting(first, length, buffer.values(), bucket_of.values(), compare_less, state, workers).run();
        state.check();
      });
  }
  sort_here<kind>(first, last, compare_less);
}

}  // namespace detail

// As std::sort and std::stable_sort, with as much memory again and a byte for each value; numbers in their own order are
// sorted without branches. Also when less throws: what is left is in no order, and not all of it need be what was there.
template <detail::loop_how given = loop_options, std::random_access_iterator iterator, class compare = std::less<>>
void sort(given&& options, iterator first, iterator last, compare compare_less = {},
          detail::source_place call_site = detail::source_place::current()) {
  detail::sort<detail::sort_kind::unstable>(detail::call_of("sort", options, call_site), first, last, compare_less);
}
template <std::random_access_iterator iterator, class compare = std::less<>>
void sort(iterator first, iterator last, compare compare_less = {},
          detail::source_place call_site = detail::source_place::current()) {
  detail::sort<detail::sort_kind::unstable>(detail::call_of("sort", loop_options{}, call_site), first, last, compare_less);
}

template <detail::loop_how given = loop_options, std::random_access_iterator iterator, class compare = std::less<>>
void stable_sort(given&& options, iterator first, iterator last, compare compare_less = {},
                 detail::source_place call_site = detail::source_place::current()) {
  detail::sort<detail::sort_kind::stable>(detail::call_of("stable_sort", options, call_site), first, last, compare_less);
}
template <std::random_access_iterator iterator, class compare = std::less<>>
void stable_sort(iterator first, iterator last, compare compare_less = {},
                 detail::source_place call_site = detail::source_place::current()) {
  detail::sort<detail::sort_kind::stable>(detail::call_of("stable_sort", loop_options{}, call_site), first, last,
                                          compare_less);
}

}  // namespace trimtab::tasks

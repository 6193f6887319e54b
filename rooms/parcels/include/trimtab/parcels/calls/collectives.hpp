// Operations in which all localities of a job take part: each calls them, in the same order. The caller waits; on a worker,
// others run meanwhile. If a locality is lost they throw locality_lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "trimtab/parcels/calls/dispatcher.hpp"

namespace trimtab::parcels {

class collectives {
 public:
  explicit collectives(dispatcher& messages) noexcept : m_messages(messages) {}

  // Returns when all localities have called it. In ceil(log2(size)) rounds: D. Hensgen, R. Finkel, U. Manber, "Two
  // algorithms for barrier synchronization" (Int. J. Parallel Programming 17, 1988).
  void barrier();

  // The value of locality `root`, on all. The others' values are not used.
  template <class value>
  value broadcast(value own, locality_number root = 0);
  // combine(combine(v0, v1), v2) ... over all localities in some grouping, in their order if root is 0; on `root`. The
  // others get the combination of some. combine: of two values; it must be associative, and commutative if root is not 0.
  template <class value, class function>
  value reduce(value own, function&& combine, locality_number root = 0);
  // The same, on all.
  template <class value, class function>
  value all_reduce(value own, function&& combine);
  // The values of all, in the order of the localities, on `root`; nothing on others.
  template <class value>
  std::vector<value> gather(value own, locality_number root = 0);
  // The same, on all.
  template <class value>
  std::vector<value> all_gather(value own) {
    return broadcast(gather(std::move(own)));
  }

 private:
  static constexpr std::uint32_t operation_bit = 56;  // from here on a tag has the operation and 1
  std::uint64_t next_tag(collective_operation which) noexcept {
    return (static_cast<std::uint64_t>(which) + 1) << operation_bit | m_calls.fetch_add(1, std::memory_order_relaxed) << 8;
  }
  void send(locality_number to, std::uint64_t tag, bytes_view content);
  letter receive(locality_number from, std::uint64_t tag);
  template <class value>
  void send_value(locality_number to, std::uint64_t tag, const value& sent) {
    byte_buffer bytes;
    writer into(bytes);
    into(sent);
    send(to, tag, bytes.view());
  }
  template <class value>
  value receive_value(locality_number from, std::uint64_t tag) {
    const letter bytes = receive(from, tag);
    reader content(bytes);
    value received = content.read<value>();
    content.must_be_at_end();
    return received;
  }

  dispatcher& m_messages;
  std::atomic<std::uint64_t> m_calls{0};
};

// Both by binomial trees: the localities counted from the root, whose number in the tree is 0.
template <class value>
value collectives::broadcast(value own, locality_number root) {
  const std::uint64_t tag = next_tag(collective_operation::broadcast);
  const std::uint32_t size = m_messages.size(), self = (m_messages.number() + size - root) % size;
  std::uint32_t distance = 1;
  while (distance < size && (self & distance) == 0) distance *= 2;
  if (self != 0) own = receive_value<value>((self - distance + root) % size, tag);
  for (distance /= 2; distance != 0; distance /= 2)
    if (self + distance < size) send_value((self + distance + root) % size, tag, own);
  return own;
}

template <class value, class function>
value collectives::reduce(value own, function&& combine, locality_number root) {
  const std::uint64_t tag = next_tag(collective_operation::reduce);
  const std::uint32_t size = m_messages.size(), self = (m_messages.number() + size - root) % size;
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    if ((self & distance) != 0) {
      send_value((self - distance + root) % size, tag, own);
      return own;
    }
    if (self + distance < size) own = combine(std::move(own), receive_value<value>((self + distance + root) % size, tag));
  }
  return own;
}

template <class value, class function>
value collectives::all_reduce(value own, function&& combine) {
  return broadcast(reduce(std::move(own), std::forward<function>(combine)));
}

template <class value>
std::vector<value> collectives::gather(value own, locality_number root) {
  std::vector<value> all;
  all.push_back(std::move(own));
  const auto joined = [](std::vector<value> first, std::vector<value> second) {
    first.insert(first.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
    return first;
  };
  all = reduce(std::move(all), joined, root);
  if (m_messages.number() != root) return {};
  // They come in the order of the tree, which begins with the root.
  std::rotate(all.begin(), all.end() - static_cast<std::ptrdiff_t>(root), all.end());
  return all;
}

}  // namespace trimtab::parcels

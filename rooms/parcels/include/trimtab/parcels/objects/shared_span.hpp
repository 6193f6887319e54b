// Memory of one locality that the others read and write without a task of its program: one-sided put and get.
//
//   auto row = shared_span<double>::create(job, own_row);           // own_row: memory that stays where it is
//   row.put(0, values);  row.put(100, others);                      // return when the values have been copied
//   flush(job.at(row.home())).get();                                // all are in the memory there
//   std::vector<double> part = row.get(50, 10).get();
//
// put returns when the values have been copied into the queue for that locality, or into the memory if it is here: the
// caller may change them at once. Small puts travel together, as all parcels do. The receive loop of the other locality
// writes them into the memory. Puts and gets of one locality on one other are done in their order.
//
// What the program must see to: nobody else uses memory of the span that is put or got at the same time. After flush(), and
// after a message that says so, the puts can be seen by the program there. The memory must stay until destroy().get()
// returns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"

namespace trimtab::parcels {

namespace detail {

class span_object final : public global_object {
 public:
  explicit span_object(std::span<std::byte> memory) noexcept : m_memory(memory) {}
  // Both throw std::out_of_range. offset: in bytes.
  void write(std::uint64_t offset, bytes_view content);
  void read(std::uint64_t offset, std::span<std::byte> target) const;

  template <class value>
  void get(answer<std::vector<value>>& reply, std::uint64_t first, std::uint64_t count) {
    check(first, count, sizeof(value));
    std::vector<value> content(count);
    read(first * sizeof(value), std::as_writable_bytes(std::span(content)));
    reply.give(std::move(content));
  }
  // Returns when nobody uses the memory any more.
  void on_removed() noexcept override;

 private:
  // Without overflow: all three come from another locality.
  void check(std::uint64_t first, std::uint64_t count, std::size_t value_bytes) const;

  mutable base::spin_lock m_lock;  // while the memory is used
  std::span<std::byte> m_memory;
};

void put_bytes(object_table& table, const global_id& id, std::uint64_t offset, bytes_view content);

}  // namespace detail

template <class value>
class shared_span : public object_handle {
  static_assert(std::is_trivially_copyable_v<value> && serializable<value>,
                "trimtab: a shared span has values that are copied as bytes and mean the same in other processes");
  using object = detail::span_object;

 public:
  shared_span() = default;
  static shared_span create(job& owner, std::span<value> memory) {
    const auto bytes = std::as_writable_bytes(memory);
    return {owner.objects(), owner.objects().add(std::make_shared<object>(bytes)), memory.size()};
  }
  // Collective: the spans of all localities, in their order. They may have different sizes.
  static std::vector<shared_span> create_all(job& owner, std::span<value> memory) {
    std::vector<shared_span> spans =
        owner.all_reduce(std::vector{create(owner, memory)}, [](auto first, const auto& second) {
          first.insert(first.end(), second.begin(), second.end());
          return first;
        });
    for (shared_span& part : spans) part.bind(owner.objects());
    return spans;
  }

  std::uint64_t size() const noexcept { return m_size; }
  locality_number home() const noexcept { return id().home; }

  // Throws std::out_of_range beyond the end. What goes wrong at the other locality is thrown by flush.
  void put(std::uint64_t offset, std::span<const value> values) const {
    check(offset, values.size());
    detail::put_bytes(table(), id(), offset * sizeof(value), std::as_bytes(values));
  }
  void put(std::uint64_t offset, const value& single) const { put(offset, std::span(&single, 1)); }
  // A copy of the values. Throws std::out_of_range beyond the end, no_such_object, locality_lost.
  tasks::future<std::vector<value>> get(std::uint64_t offset, std::uint64_t count) const {
    check(offset, count);
    return call<&object::get<value>>(offset, count);
  }
  // The same into memory that must stay until the future is ready.
  tasks::future<void> get(std::uint64_t offset, std::span<value> target) const {
    return detail::queue_call(table().home(), [content = get(offset, target.size()), target]() mutable {
      const std::vector<value> values = content.get();
      std::copy(values.begin(), values.end(), target.begin());
    });
  }

  template <class archive>
  void serialize(archive& ar) {
    object_handle::serialize(ar);
    ar(m_size);
  }

 private:
  shared_span(object_table& table, const global_id& id, std::uint64_t size) noexcept
      : object_handle(table, id), m_size(size) {}
  void check(std::uint64_t offset, std::uint64_t count) const {
    if (offset <= m_size && count <= m_size - offset) return;
    throw std::out_of_range("trimtab: values " + std::to_string(offset) + " to " + std::to_string(offset + count) +
                            " of a shared span were used, which has " + std::to_string(m_size));
  }

  std::uint64_t m_size = 0;
};

// Ready when all puts that this locality has made before are in the memory of that locality. Throws the first error of one
// of them since the last flush: no_such_object, std::out_of_range, or locality_lost.
tasks::future<void> flush(locality where);
// The same for all localities. Throws one of the errors.
tasks::future<void> fence(job& owner);

}  // namespace trimtab::parcels

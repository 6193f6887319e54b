#include "trimtab/parcels/objects/shared_span.hpp"

#include <cstring>
#include <mutex>
#include <utility>

namespace trimtab::parcels {

namespace detail {

namespace {

void receive_put(const arrival& parcel) {
  object_table& table = *parcel.receiver.objects();
  try {
    reader bytes(parcel.arguments);
    const auto id = bytes.read<global_id>();
    const auto offset = bytes.read<std::uint64_t>();
    table.find<span_object>(id)->write(offset, bytes.read_bytes(bytes.left()));
  } catch (...) {
    const global_id local_object = object_table::own_object_of(table.number());
    table.find<locality_object>(local_object)->note_put_error(parcel.from, std::current_exception());
  }
  parcel.receiver.note_handled();
}

constexpr parcel_kind put_kind{.signature = 4, .receive = receive_put};

}  // namespace

void span_object::check(std::uint64_t first, std::uint64_t count, std::size_t value_bytes) const {
  const std::uint64_t size = m_memory.size() / value_bytes;
  if (first <= size && count <= size - first) return;
  throw std::out_of_range("trimtab: values " + std::to_string(first) + " and " + std::to_string(count) +
                          " more of a shared span were used, which has " + std::to_string(size) + " of " +
                          std::to_string(value_bytes) + " bytes");
}

void span_object::write(std::uint64_t offset, bytes_view content) {
  const std::lock_guard guard(m_lock);
  check(offset, content.size(), 1);
  if (!content.empty()) std::memcpy(m_memory.data() + offset, content.data(), content.size());
}

void span_object::read(std::uint64_t offset, std::span<std::byte> target) const {
  const std::lock_guard guard(m_lock);
  check(offset, target.size(), 1);
  if (!target.empty()) std::memcpy(target.data(), m_memory.data() + offset, target.size());
}

void span_object::on_removed() noexcept {
  const std::lock_guard guard(m_lock);
  m_memory = {};
}

void put_bytes(object_table& table, const global_id& id, std::uint64_t offset, bytes_view content) {
  if (id.home == table.number()) return table.find<span_object>(id)->write(offset, content);
  if (id.home >= table.size())
    throw no_such_object("trimtab: there is no " + to_string(id) + ": the job has " + std::to_string(table.size()) +
                         " localities, numbered from 0");
  static const action& puts = action_registry::of_process().find_or_add(put_kind, nullptr);
  table.messages()->send(id.home, puts, nullptr, [&](writer& into) {
    into(id, offset);
    into.write_bytes(content);
  });
}

}  // namespace detail

tasks::future<void> flush(locality where) {
  object_table& table = where.owner().objects();
  auto applied = object_call<&locality_object::flush_puts>::call(table, object_table::own_object_of(where.number()));
  // The caller is about to wait for it.
  if (!where.is_here()) table.messages()->traffic().flush(where.number());
  return applied;
}

tasks::future<void> fence(job& owner) {
  std::vector<tasks::future<void>> flushes;
  for (const locality where : owner.localities()) flushes.push_back(flush(where));
  return detail::queue_call(owner.home(), [flushes = std::move(flushes)]() mutable {
    std::exception_ptr error;
    for (tasks::future<void>& flushed : flushes) {
      try {
        flushed.get();
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace trimtab::parcels

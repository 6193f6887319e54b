#include "trimtab/storage/call_table.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace trimtab::storage {

namespace {

using observe::storage_row;

constexpr std::size_t rows_at_once = 256;
constexpr std::size_t row_bytes = sizeof(storage_row);

std::uint64_t key_of(stage_tag tag, const file_call& call) noexcept {
  return std::uint64_t{tag.stage} << 32 | std::uint64_t{tag.attempt & 0xFFFu} << 20 | std::uint64_t{call.group} << 4 |
         static_cast<std::uint64_t>(call.call);
}

// Finalizer of MurmurHash3 (Appleby): every bit of the key changes every bit of the place.
std::uint32_t place_of(std::uint64_t key) noexcept {
  key ^= key >> 33;
  key *= 0xFF51AFD7ED558CCDu;
  key ^= key >> 33;
  return static_cast<std::uint32_t>(key);
}

template <class number>
void count(number& field, number value) noexcept {
  std::atomic_ref(field).fetch_add(value, std::memory_order_relaxed);
}

void raise(std::uint64_t& field, std::uint64_t value) noexcept {
  const std::atomic_ref largest(field);
  std::uint64_t before = largest.load(std::memory_order_relaxed);
  while (before < value && !largest.compare_exchange_weak(before, value, std::memory_order_relaxed)) continue;
}

}  // namespace

storage_row* call_table::rows() const noexcept {
  return reinterpret_cast<storage_row*>(m_file.data() + observe::header_bytes);
}

observe::file_header& call_table::header() const noexcept { return *reinterpret_cast<observe::file_header*>(m_file.data()); }

int call_table::open(const char* folder) noexcept {
  const int saved = errno;
  const std::scoped_lock held(m_lock);
  if (is_open()) return 0;
  char path[576];
  const int length = std::snprintf(path, sizeof path, "%s/storage.tt", folder);
  int error = length < 0 || static_cast<std::size_t>(length) >= sizeof path ? ENAMETOOLONG : 0;
  constexpr std::size_t most_bytes = observe::header_bytes + row_bytes * most_rows;
  if (error == 0) error = m_file.create(path, observe::header_bytes + row_bytes * rows_at_once, most_bytes);
  if (error == 0) {
    auto& head = header();
    head.version = observe::format_version;
    head.minor = observe::format_minor;
    head.header_size = observe::header_bytes;
    head.kind = observe::file_kind::storage;
    head.record_bytes = row_bytes;
    head.capacity = rows_at_once;
    std::uint64_t magic;
    std::memcpy(&magic, observe::file_magic, sizeof magic);
    // Whoever sees the magic sees the rest of the header.
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(head.magic)).store(magic, std::memory_order_release);
    m_is_open.store(true, std::memory_order_release);
  }
  errno = saved;
  return error;
}

std::uint16_t call_table::find_group(const path_group& group, std::uint32_t begin, std::uint32_t end) const noexcept {
  for (std::uint32_t i = begin; i < end; ++i)
    if (m_group[i].file_class == group.file_class && std::strcmp(m_group[i].text, group.text) == 0)
      return static_cast<std::uint16_t>(i);
  return no_group;
}

std::uint16_t call_table::group_number(const path_group& group) noexcept {
  // Acquire: groups below the count are complete, and never change.
  const std::uint32_t known = m_groups.load(std::memory_order_acquire);
  if (const auto found = find_group(group, 1, known); found != no_group) return found;
  const std::scoped_lock held(m_lock);
  const std::uint32_t count_now = m_groups.load(std::memory_order_relaxed);
  if (const auto found = find_group(group, known, count_now); found != no_group) return found;
  if (count_now == most_groups) return no_group;
  m_group[count_now] = group;
  m_groups.store(count_now + 1, std::memory_order_release);
  return static_cast<std::uint16_t>(count_now);
}

storage_row* call_table::find_row(std::uint64_t key) noexcept {
  for (std::uint32_t i = place_of(key);; ++i) {
    auto& place = m_slots[i % slots];
    const std::uint64_t found = place.key.load(std::memory_order_acquire);
    if (found == 0) return nullptr;
    if (found == key) return rows() + place.row.load(std::memory_order_relaxed) - 1;
  }
}

// Under the lock. Half of the slots stay free, so each search ends.
storage_row* call_table::make_row(std::uint64_t key, stage_tag tag, const file_call& call) noexcept {
  auto& head = header();
  const std::uint64_t number = head.written;
  if (number == most_rows) return nullptr;
  if (number == head.capacity) {
    const int saved = errno;
    const int error = m_file.grow(observe::header_bytes + row_bytes * (number + rows_at_once));
    errno = saved;
    if (error != 0) return nullptr;
    std::atomic_ref(head.capacity).store(number + rows_at_once, std::memory_order_release);
  }
  auto& row = rows()[number];
  row.stage = tag.stage;
  row.attempt = tag.attempt;
  row.call = call.call;
  row.file_class = m_group[call.group].file_class;
  std::memcpy(row.group, m_group[call.group].text, sizeof row.group);
  std::atomic_ref(head.written).store(number + 1, std::memory_order_release);
  std::uint32_t i = place_of(key);
  while (m_slots[i % slots].key.load(std::memory_order_relaxed) != 0) ++i;
  m_slots[i % slots].row.store(static_cast<std::uint32_t>(number) + 1, std::memory_order_relaxed);
  // Whoever finds the key finds the row.
  m_slots[i % slots].key.store(key, std::memory_order_release);
  return &row;
}

void call_table::add(stage_tag tag, const file_call& call) noexcept {
  if (!is_open()) return;
  const std::uint64_t key = key_of(tag, call);
  storage_row* row = find_row(key);
  if (row == nullptr) {
    const std::scoped_lock held(m_lock);
    row = find_row(key);
    if (row == nullptr) row = make_row(key, tag, call);
  }
  if (row == nullptr) {
    count(header().dropped, std::uint64_t{1});
    return;
  }
  count(row->count, std::uint64_t{1});
  if (call.result < 0) count(row->failed, std::uint64_t{1});
  const bool has_bytes = call.call == observe::storage_call::read || call.call == observe::storage_call::write;
  if (has_bytes && call.result > 0) count(row->bytes, static_cast<std::uint64_t>(call.result));
  count(row->sum_ns, call.ns);
  raise(row->longest_ns, call.ns);
  const auto width = static_cast<std::size_t>(std::bit_width(call.ns));
  count(row->histogram[width < observe::histogram_buckets ? width : observe::histogram_buckets - 1], std::uint32_t{1});
}

}  // namespace trimtab::storage

#include "transport/mpi_outbox.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace trimtab::parcels::mpi {

namespace {

constexpr std::size_t least_ring_bytes = std::size_t{256} << 10;
constexpr std::size_t room_for_ends = 2 * frame_size(0);  // leaving, ending

}  // namespace

outbox::~outbox() {
  if (m_memory != nullptr) munmap(m_memory, m_capacity);
}

bool outbox::open(std::size_t largest_message) noexcept {
  // Twice the largest message, so that the writer copies one while MPI sends another.
  m_capacity = std::bit_ceil(std::max(least_ring_bytes, 2 * frame_size(largest_message) + room_for_ends));
  void* const memory = mmap(nullptr, m_capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  m_memory = static_cast<std::byte*>(memory);
  return true;
}

void outbox::copy_in(const void* bytes, std::size_t size) noexcept {
  if (size == 0) return;
  const std::size_t place = m_writing & (m_capacity - 1), first = std::min(size, m_capacity - place);
  std::memcpy(m_memory + place, bytes, first);
  if (first < size) std::memcpy(m_memory, static_cast<const std::byte*>(bytes) + first, size - first);
  m_writing += size;
}

bool outbox::append(std::span<const bytes_view> parts, std::size_t total) noexcept {
  const std::uint64_t written = m_writing, end = written + frame_size(total);
  if (end + room_for_ends > m_known_free + m_capacity) {
    m_known_free = m_freed.load();
    if (end + room_for_ends > m_known_free + m_capacity) return false;
  }
  const frame_header header{static_cast<std::uint32_t>(total), frame_kind::message};
  copy_in(&header, sizeof header);
  for (const bytes_view part : parts) copy_in(part.data(), part.size());
  m_writing = end;
  m_written.store(end);
  return true;
}

void outbox::append(frame_kind kind) noexcept {
  const frame_header header{0, kind};
  copy_in(&header, sizeof header);
  m_written.store(m_writing);
}

bytes_view outbox::next_piece() const noexcept {
  const std::size_t place = m_started & (m_capacity - 1);
  const std::size_t unsent = static_cast<std::size_t>(m_written.load() - m_started);
  return {m_memory + place, std::min({unsent, piece_bytes, m_capacity - place})};
}

}  // namespace trimtab::parcels::mpi

#include "trimtab/parcels/archive/byte_buffer.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

namespace trimtab::parcels {
namespace {

void free_aligned(void*, std::byte* data, std::size_t) noexcept {
  ::operator delete(data, std::align_val_t{byte_buffer::alignment});
}

memory_block allocate_aligned(std::size_t size) {
  auto* const data = static_cast<std::byte*>(::operator new(size, std::align_val_t{byte_buffer::alignment}));
  return {data, size, {.function = free_aligned, .context = nullptr}};
}

}  // namespace

byte_buffer byte_buffer::take(memory_block memory) noexcept {
  byte_buffer taken;
  taken.m_memory = memory;
  taken.m_size = memory.size;
  return taken;
}

memory_block byte_buffer::release() noexcept {
  m_size = 0;
  return std::exchange(m_memory, {});
}

void byte_buffer::reserve(std::size_t capacity) {
  if (capacity > m_memory.size) move_to(capacity);
}

void byte_buffer::resize_uninitialized(std::size_t size) {
  reserve(size);
  m_size = size;
}

void byte_buffer::grow_by(std::size_t count) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max() / 2;
  constexpr std::size_t smallest = 256;
  if (count > largest - m_size) {
    throw std::length_error("trimtab: a buffer of bytes cannot grow to more than half of the address space");
  }
  move_to(std::max({smallest, m_size + count, m_memory.size + m_memory.size / 2}));
}

void byte_buffer::move_to(std::size_t capacity) {
  const memory_block larger = allocate_aligned(capacity);
  if (m_size != 0) std::memcpy(larger.data, m_memory.data, m_size);
  free_memory();
  m_memory = larger;
}

void byte_buffer::free_memory() noexcept {
  if (m_memory.release.function != nullptr)
    m_memory.release.function(m_memory.release.context, m_memory.data, m_memory.size);
}

}  // namespace trimtab::parcels

// Blocks have sizes of four steps to each power of two; free ones of a size are kept in a list. Larger ones are mapped one
// by one.
#include "trimtab/base/own_heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#include "trimtab/base/spin_lock.hpp"

namespace trimtab::base {

namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t largest_kept = 32 * 1024;  // header included; larger blocks are mapped one by one
constexpr std::size_t chunk_bytes =
    128 * 1024;  // asked of the system at a time: little, for programs with a limit on memory
constexpr std::size_t most_bytes = SIZE_MAX / 4;

// Stands before each block.
struct header {
  std::size_t bytes;   // of the whole block, this header included
  std::size_t before;  // from the block's begin to this header: more than 0 only where an alignment was asked for
};
static_assert(sizeof(header) == alignment);

struct free_block {
  free_block* next;
};

constexpr unsigned steps = 4;
constexpr unsigned smallest_bits = 5;  // 32 bytes
constexpr unsigned class_count = (std::bit_width(largest_kept) - smallest_bits) * steps + 1;

struct size_class {
  unsigned index;
  std::size_t bytes;
};

// The smallest size that is not below `bytes`: (4 + k) / 4 of a power of two, rounded up to whole alignments.
size_class class_of(std::size_t bytes) noexcept {
  if (bytes <= std::size_t{1} << smallest_bits) return {0, std::size_t{1} << smallest_bits};
  const unsigned bits = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;
  const std::size_t power = std::size_t{1} << bits, step = power / steps;
  const std::size_t steps_above = (bytes - power + step - 1) / step;
  const std::size_t size = (power + steps_above * step + alignment - 1) / alignment * alignment;
  return {(bits - smallest_bits) * steps + static_cast<unsigned>(steps_above), size};
}

struct heap {
  spin_lock lock;
  free_block* kept[class_count] = {};
  char* next = nullptr;  // the rest of the newest chunk
  char* end = nullptr;
};
constinit heap the_heap;

char* mapped(std::size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// Under the lock.
char* cut_off(std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(the_heap.end - the_heap.next) < bytes) {
    char* const chunk = mapped(chunk_bytes);
    if (chunk == nullptr) return nullptr;
    the_heap.next = chunk;  // the rest of the last one is lost: less than the largest block
    the_heap.end = chunk + chunk_bytes;
  }
  char* const next_block = the_heap.next;
  the_heap.next += bytes;
  return next_block;
}

char* take_kept(const size_class& size_kind) noexcept {
  const std::lock_guard guard(the_heap.lock);
  free_block*& first = the_heap.kept[size_kind.index];
  if (first == nullptr) return cut_off(size_kind.bytes);
  free_block* const first_kept = first;
  first = first_kept->next;
  return reinterpret_cast<char*>(first_kept);
}

void* take(std::size_t wanted) noexcept {
  if (wanted > most_bytes) {
    errno = ENOMEM;
    return nullptr;
  }
  const int saved = errno;
  const std::size_t bytes = sizeof(header) + wanted;
  const size_class size_kind =
      bytes <= largest_kept ? class_of(bytes) : size_class{class_count, (bytes + 4095) & ~std::size_t{4095}};
  char* const block = size_kind.index < class_count ? take_kept(size_kind) : mapped(size_kind.bytes);
  errno = block == nullptr ? ENOMEM : saved;
  if (block == nullptr) return nullptr;
  return new (block) header{size_kind.bytes, 0} + 1;
}

header& header_of(void* memory) noexcept { return static_cast<header*>(memory)[-1]; }

std::size_t usable(void* memory) noexcept {
  const header& block_header = header_of(memory);
  return block_header.bytes - block_header.before - sizeof(header);
}

void give(void* memory) noexcept {
  if (memory == nullptr) return;
  const header block_header = header_of(memory);
  char* const block = reinterpret_cast<char*>(&header_of(memory)) - block_header.before;
  if (block_header.bytes > largest_kept) {
    const int saved = errno;
    munmap(block, block_header.bytes);
    errno = saved;
    return;
  }
  const std::lock_guard guard(the_heap.lock);
  free_block*& first = the_heap.kept[class_of(block_header.bytes).index];
  first = new (block) free_block{first};
}

// The header stands just before an address that is a multiple of `multiple`.
void* take_aligned(std::size_t multiple, std::size_t wanted) noexcept {
  if (multiple <= alignment) return take(wanted);
  if (wanted > most_bytes || multiple > most_bytes) return nullptr;
  auto* const memory = static_cast<char*>(take(wanted + multiple));
  if (memory == nullptr) return nullptr;
  const header whole = header_of(memory);
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t skipped = (at + multiple - 1) / multiple * multiple - at;
  if (skipped > 0) header_of(memory + skipped) = {whole.bytes, skipped};
  return memory + skipped;
}

}  // namespace

void* own_heap::take(std::size_t bytes) noexcept { return base::take(bytes); }

void* own_heap::take_zeroed(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const memory = base::take(all);
  return memory == nullptr ? nullptr : std::memset(memory, 0, all);
}

void* own_heap::take_aligned(std::size_t multiple, std::size_t bytes) noexcept {
  return base::take_aligned(multiple, bytes);
}

void* own_heap::resize(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return base::take(bytes);
  if (bytes <= usable(memory)) return memory;
  void* const larger = base::take(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, usable(memory));
  base::give(memory);
  return larger;
}

void own_heap::give(void* memory) noexcept { base::give(memory); }

void own_heap::after_fork() noexcept {
  std::fill(std::begin(the_heap.kept), std::end(the_heap.kept), nullptr);
  the_heap.next = the_heap.end = nullptr;
  the_heap.lock.reset();
}

}  // namespace trimtab::base

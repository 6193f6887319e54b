#include "malloc_arenas.hpp"

#include <elf.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace trimtab::observe {

namespace {

// malloc/malloc.c, `struct malloc_state`: lock and flags, ten fast bins, two pointers, 127 bins of two pointers, a bit for
// each bin, and the pointer to the next arena. From 2.27 on a word about fast bins comes behind the flags.
constexpr std::size_t word = sizeof(void*);
constexpr std::size_t bin_count = 127;
constexpr std::size_t bins_bytes = 2 * word * bin_count;
constexpr std::size_t bit_bytes = 16;
constexpr std::uint64_t page_bytes = 4096, least_address = 65536;
// Of a program that has used memory of many sizes. All others are empty, and an accident has not even one of them.
constexpr std::size_t least_empty_bins = 8;
// glibc makes 8 for a CPU.
constexpr unsigned most_arenas = 16384;
constexpr std::uint32_t locked_with_waiters = 2;  // sysdeps/nptl/lowlevellock.h

// The program's threads write meanwhile.
std::uint64_t word_at(const std::byte* address) noexcept {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_RELAXED);
}

std::uint64_t number_of(const std::byte* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

// Copies from memory that may not be mapped. False: it is not.
bool read_word(std::uint64_t address, std::uint64_t& value) noexcept {
  const int saved = errno;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel looks whether it is an address.
  const iovec from{reinterpret_cast<void*>(address), sizeof value}, to{&value, sizeof value};
  const bool is_read = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof value);
  errno = saved;
  return is_read;
}

struct variables {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

// Of the object whose name is the C library's.
int take_variables(dl_phdr_info* info, std::size_t, void* context) {
  const char* const name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const char* const slash = std::strrchr(name, '/');
  if (std::strcmp(slash == nullptr ? name : slash + 1, "libc.so.6") != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers.
    const auto* const begin = reinterpret_cast<const std::byte*>(info->dlpi_addr + part.p_vaddr);
    *static_cast<variables*>(context) = {begin, begin + part.p_memsz};
  }
  return 1;
}

}  // namespace

bool malloc_arenas::is_arena(const std::byte* candidate, const layout& shape) noexcept {
  std::size_t empty = 0;
  for (std::size_t bin = bin_count; bin-- > 0 && empty < least_empty_bins;) {
    const std::byte* const pointers = candidate + shape.bins + 2 * word * bin;
    // As a block's two pointers lie behind its two words of size, a bin points to two words before itself.
    const std::uint64_t itself = number_of(pointers) - 2 * word;
    empty += word_at(pointers) == itself && word_at(pointers + word) == itself ? 1 : 0;
    // Nothing else has any: one look at the larger bins tells.
    if (bin < bin_count / 2 && empty == 0) return false;
  }
  if (empty < least_empty_bins) return false;
  // Bins look the same from two words before or behind. What comes after them does not: a pointer, another one or nothing, a
  // small number of threads, and bytes in whole pages.
  const std::byte* const behind = candidate + shape.next;
  const std::uint64_t next = word_at(behind), threads = word_at(behind + 2 * word), bytes = word_at(behind + 3 * word);
  return next >= least_address && next % word == 0 && threads < least_address && bytes != 0 && bytes % page_bytes == 0;
}

// Whoever follows the list later trusts it: arenas are added, and never taken away.
bool malloc_arenas::is_closed_list() const noexcept {
  std::uint64_t arena = number_of(m_first);
  for (unsigned i = 0; i < most_arenas; ++i) {
    if (!read_word(arena + m_shape.next, arena) || arena == 0 || arena % word != 0) return false;
    if (arena == number_of(m_first)) return true;
  }
  return false;
}

std::optional<malloc_arenas> malloc_arenas::find_within(const void* begin, const void* end) noexcept {
  if (sizeof(void*) != sizeof(std::uint64_t)) return std::nullopt;
  constexpr std::size_t newer = 112, older = 104;
  for (const std::size_t bins : {newer, older}) {
    const layout shape{bins, bins + bins_bytes + bit_bytes};
    const std::size_t bytes = shape.next + 4 * word;
    const auto* const stop = static_cast<const std::byte*>(end);
    const auto* candidate = static_cast<const std::byte*>(begin);
    candidate += (word - number_of(candidate) % word) % word;
    for (; candidate + bytes <= stop; candidate += word) {
      const malloc_arenas arenas(candidate, shape);
      if (is_arena(candidate, shape) && arenas.is_closed_list()) return arenas;
    }
  }
  return std::nullopt;
}

std::optional<malloc_arenas> malloc_arenas::find() noexcept {
  variables library;
  dl_iterate_phdr(take_variables, &library);
  return library.begin == nullptr ? std::nullopt : find_within(library.begin, library.end);
}

template <class predicate>
bool malloc_arenas::any_of(predicate holds) const noexcept {
  const std::byte* arena = m_first;
  for (unsigned i = 0; i < most_arenas; ++i) {
    if (holds(arena)) return true;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): read as a number, as another thread may change it.
    arena = reinterpret_cast<const std::byte*>(word_at(arena + m_shape.next));
    if (arena == m_first || arena == nullptr) return false;
  }
  return false;
}

std::uint32_t malloc_arenas::count() const noexcept {
  std::uint32_t arenas = 0;
  any_of([&](const std::byte*) { return ++arenas, false; });
  return arenas;
}

bool malloc_arenas::is_contended() const noexcept {
  return any_of([](const std::byte* arena) {
    return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(arena), __ATOMIC_RELAXED) == locked_with_waiters;
  });
}

bool malloc_arenas::has_lock_at(std::uint64_t address) const noexcept {
  return any_of([=](const std::byte* arena) { return number_of(arena) == address; });
}

}  // namespace trimtab::observe

// The arenas of the GNU C library's malloc, looked at from outside: their locks, and how many threads share them. The
// library exports no name for them, but an arena points into itself: the list of an empty bin begins and ends at the bin. So
// the first arena is recognized among the library's own variables; the others are behind it in a list, and none is ever
// given back.
//
// Before anything is believed, the list is followed once with a system call that fails where there is no memory.
//
// Read while the program's threads change them, word by word; nothing is written, locked or allocated. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace trimtab::observe {

class malloc_arenas {
 public:
  // The first arena within the bytes from `begin` to `end`, which can be read. Nothing: there is none, or it has never been
  // used, or the library lays arenas out in another way than those from 2.26 on with pointers of 64 bits.
  static std::optional<malloc_arenas> find_within(const void* begin, const void* end) noexcept;
  // Among the variables of the C library that this process has.
  static std::optional<malloc_arenas> find() noexcept;

  std::uint32_t count() const noexcept;
  // Whether a thread waits for one of their locks, or the present holder has waited for it.
  bool is_contended() const noexcept;
  // Whether the lock of one of them lies at this address.
  bool has_lock_at(std::uint64_t address) const noexcept;

 private:
  struct layout {
    std::size_t bins;  // from the arena's begin to the two pointers of its first bin
    std::size_t next;  // to the pointer to the next arena
  };

  malloc_arenas(const std::byte* first, const layout& shape) noexcept : m_first(first), m_shape(shape) {}

  static bool is_arena(const std::byte* candidate, const layout& shape) noexcept;
  bool is_closed_list() const noexcept;
  template <class predicate>
  bool any_of(predicate holds) const noexcept;

  const std::byte* m_first;
  layout m_shape;
};

}  // namespace trimtab::observe

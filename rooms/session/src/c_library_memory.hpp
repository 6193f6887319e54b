// The allocator of the GNU C library as the program uses it: whether it keeps memory that the program frees. Another
// allocator is left alone. The functions take the allocator's locks, as every call of malloc does: never in a hook, and not
// where a thread may have been interrupted in malloc.
#pragma once

#include <cstddef>
#include <optional>

struct mallinfo2;

namespace trimtab::session {

class c_library_memory {
 public:
  // Nothing: the program's malloc is not the GNU C library's.
  static std::optional<c_library_memory> find() noexcept;

  // Freed memory stays with the process, and large blocks are not mapped each for itself.
  bool keep() noexcept;
  // The thresholds that were in force before the first keep(). They do not follow the program's blocks any more, which the
  // C library ends with the first setting of them.
  bool restore() noexcept;
  // Gives back what is free.
  void give_back() const noexcept { m_trim(0); }
  // What the process has and the program does not use; nothing: not known.
  std::optional<std::size_t> free_bytes() const noexcept;

 private:
  c_library_memory() = default;

  int (*m_set)(int, int) = nullptr;
  int (*m_trim)(std::size_t) = nullptr;
  struct mallinfo2 (*m_info)() = nullptr;  // nullptr: before version 2.33
  void* (*m_take)(std::size_t) = nullptr;
  void (*m_free)(void*) = nullptr;
  std::size_t (*m_usable_bytes)(void*) = nullptr;
  int m_mmap_threshold = 0;  // before the first keep(); 0: there was none
};

}  // namespace trimtab::session

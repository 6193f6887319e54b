// A file that grows inside one reserved range of addresses, so that pointers into it stay valid while it
// grows. Holds no descriptor (the program may close or count its descriptors) and allocates nothing.
// Blocks are reserved before they are mapped: a full disk is an error here, never a SIGBUS later.
// Not thread-safe: one owner, or under the owner's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/file_identity.hpp"

namespace trimtab::base {

class mapped_file {
 public:
  // Creates `path` (must not exist), for this user only, with `bytes` now and room to grow up to `reserve`, or less where
  // address space is limited (address_space.hpp). Returns 0 or an errno; EPERM: no system calls may be made
  // (system_calls.hpp).
  int create(const char* path, std::size_t bytes, std::size_t reserve) noexcept;

  // Makes the file at least `bytes` long. Returns 0 or an errno; the old size stands on failure.
  int grow(std::size_t bytes) noexcept;

  // Takes the page faults of [offset, offset + bytes) now, by the calling thread.
  void populate(std::size_t offset, std::size_t bytes) noexcept;

  // Puts the file's memory in the place of that at `to`, which is as long and may be in use: whoever reads or writes there
  // has the file from then on. Only a file without reserve. Returns 0 or an errno.
  int move_to(std::byte* to) noexcept;

  // In a forked child: puts private zeroed memory in the file's place, so that pointers into it stay good
  // and writes no longer reach the parent's file.
  void detach() noexcept;

  // Unmaps. For owners that know that nobody uses the memory any more.
  void close() noexcept;
  // The same, and deletes the file.
  void remove() noexcept;

  std::byte* data() const noexcept { return m_data; }
  std::size_t size() const noexcept { return m_size; }
  std::size_t reserve() const noexcept { return m_reserve; }
  explicit operator bool() const noexcept { return m_data != nullptr; }

 private:
  int reserve_range(std::size_t bytes, std::size_t reserve) noexcept;

  static constexpr std::size_t path_bytes = 512;
  std::byte* m_data = nullptr;
  std::size_t m_size = 0;
  std::size_t m_reserve = 0;
  char m_path[path_bytes] = {};
  file_identity m_identity;
};

}  // namespace trimtab::base

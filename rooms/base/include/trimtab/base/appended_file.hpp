// A file that only grows at its end, of which no more is mapped than its beginning and the part that is being written. It
// reserves no address space for what may come. Pointers into that part are good until the next call of `place`.
// Holds no descriptor and allocates nothing. Blocks are reserved before they are mapped: a full disk is an error, never a
// SIGBUS. After the first failure it stays as it is and tries nothing again: who writes many records may not pay for each
// that finds no room. Not thread-safe: one owner, or under the owner's lock.
//
//   0 ............. beginning        window ............. window + window_bytes        size
//   | header and the first records | | the part that is being written            |     |
#pragma once

#include <cstddef>

#include "trimtab/base/file_identity.hpp"

namespace trimtab::base {

class appended_file {
 public:
  // Creates `path` (must not exist) with `bytes`, all of which stay mapped. Returns 0 or an errno.
  int create(const char* path, std::size_t bytes) noexcept;

  // Where [offset, offset + bytes) can be written: the file grows and its window moves where they must. nullptr: no room,
  // now and later; `failure` says why.
  std::byte* place(std::size_t offset, std::size_t bytes) noexcept;

  // Unmaps. It can be created again.
  void close() noexcept;
  // The same, and deletes the file.
  void remove() noexcept;

  std::byte* data() const noexcept { return m_beginning; }  // the beginning
  std::size_t size() const noexcept { return m_size; }      // of the file
  int failure() const noexcept { return m_failure; }        // 0, or the errno after which no more was tried
  bool is_created() const noexcept { return m_beginning != nullptr; }

 private:
  int grow(int fd, std::size_t needed) noexcept;
  int move_window(std::size_t offset, std::size_t bytes) noexcept;

  static constexpr std::size_t path_bytes = 512;
  std::byte* m_beginning = nullptr;
  std::size_t m_beginning_bytes = 0;
  std::byte* m_window = nullptr;
  std::size_t m_window_offset = 0;
  std::size_t m_window_bytes = 0;
  std::size_t m_size = 0;
  int m_failure = 0;
  char m_path[path_bytes] = {};
  file_identity m_identity;
};

}  // namespace trimtab::base

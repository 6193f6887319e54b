// A page of a process in a file that many processes share, for what is too short to be worth files of its own: a file costs
// an inode and an entry in a folder, a page one write. Each process adds one page at the file's end and writes only there.
// Nobody maps the file: if somebody cuts it off, no process ends. Holds no descriptor and allocates nothing.
// Not thread-safe, but `write` may be called while another thread calls it: the later one stands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/file_identity.hpp"

namespace trimtab::base {

class listed_page {
 public:
  static constexpr std::size_t bytes = 4096;

  // Adds `page` behind the end of the file at `path`, which is made, for this user only, if there is none. Returns 0 or an
  // errno: EPERM: no system calls may be made; EILSEQ: the file does not consist of whole pages.
  int add(const char* path, const std::byte* page) noexcept;

  // Puts `page` in the place of what was added. Safe in a signal handler. Returns 0 or an errno; ESTALE: another file has
  // the name by now.
  int write(const std::byte* page) const noexcept;

  // Clears the beginning of what was added, so that readers pass over it.
  int withdraw() const noexcept;

  // In a forked child, whose parent's page it is.
  void forget() noexcept { *this = listed_page{}; }

 private:
  int write_at_place(const std::byte* from, std::size_t count) const noexcept;

  static constexpr std::size_t path_bytes = 512;
  char m_path[path_bytes] = {};
  file_identity m_identity;
  std::int64_t m_place = -1;
};

}  // namespace trimtab::base

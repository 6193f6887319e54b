// What files that are mapped while they grow have in common.
#pragma once

#include <cstddef>

#include "trimtab/base/file_identity.hpp"

namespace trimtab::base {

std::size_t page_bytes() noexcept;
std::size_t whole_pages(std::size_t bytes) noexcept;

// Reserves the blocks of [from, to) and makes the file that long, so that a full disk is an error here and never a SIGBUS
// later. A limit on the size of files is an error, too, and no signal. Returns 0 or an errno.
int reserve_blocks(int fd, std::size_t from, std::size_t to) noexcept;

file_identity identity_of(int fd) noexcept;

// The file at `path`, opened for writing, or -1 and errno; ESTALE: another file has its name by now, and is left alone.
int open_again(const char* path, const file_identity& identity) noexcept;

}  // namespace trimtab::base

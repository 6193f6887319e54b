// The first header of a file of a run directory.
#pragma once

#include <cstdint>
#include <cstring>

#include "trimtab/observe/format.hpp"

namespace trimtab::kernel {

// Of a file with records of that size, none of which is there yet.
inline observe::file_header new_file_header(observe::file_kind kind, std::uint32_t record_bytes) noexcept {
  observe::file_header head{};
  std::memcpy(head.magic, observe::file_magic, sizeof head.magic);
  head.version = observe::format_version;
  head.header_size = observe::header_bytes;
  head.kind = kind;
  head.record_bytes = record_bytes;
  head.minor = observe::format_minor;
  return head;
}

}  // namespace trimtab::kernel

// The text of a decision's record: reason and evidence, a NUL behind each, whatever has no room cut off between two letters.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "trimtab/observe/format.hpp"

namespace trimtab::observe {

inline void write_text(decision& target, std::string_view reason, std::string_view evidence) noexcept {
  char* to = target.text;
  const auto copy_text = [&](std::string_view text, std::size_t limit) {
    std::size_t size = std::min(text.size(), limit);
    if (size < text.size())
      while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;  // within a letter of UTF-8
    std::memcpy(to, text.data(), size);
    to += size;
    *to++ = '\0';
    return size + 1;
  };
  const std::size_t used = copy_text(reason, sizeof target.text - 2);
  copy_text(evidence, sizeof target.text - used - 1);
}

}  // namespace trimtab::observe

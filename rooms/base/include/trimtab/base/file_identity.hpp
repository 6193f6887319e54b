// Tells a file from any other that has its name later.
#pragma once

#include <cstdint>

namespace trimtab::base {

struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const file_identity&) const = default;
};

}  // namespace trimtab::base

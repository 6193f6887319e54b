// The address of a function in a form that another process with the same program understands: addresses differ from process
// to process, because each loads its libraries elsewhere.
#pragma once

#include <cstdint>
#include <optional>

namespace trimtab::parcels {

struct function_address {
  // Which library or program: a hash of its build id, or of its file's name where it has none.
  std::uint64_t module = 0;
  std::uint64_t offset = 0;  // from its beginning
  bool operator==(const function_address&) const = default;
};

// Empty: the address lies in no loaded file.
std::optional<function_address> portable_address(const void* code);
// nullptr: this process has not loaded that module, or it is shorter.
const void* local_address(const function_address& portable);

}  // namespace trimtab::parcels

// What a reader throws if the bytes are not what it was to read.
#pragma once

#include <stdexcept>

namespace trimtab::parcels {

// what(): a sentence with the place in the message, what was expected and what was found.
struct malformed_message : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace trimtab::parcels

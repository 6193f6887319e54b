// Who a process is in its job.
#pragma once

#include <cstdint>
#include <string>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

struct membership {
  locality_number number = 0;
  std::uint32_t size = 1;
  // Only processes that know it are members: bytes that the launcher has drawn at random.
  std::string secret = {};
  // How long a locality waits for the others at the start, in nanoseconds.
  std::uint64_t patience_ns = 60'000'000'000;
};

}  // namespace trimtab::parcels

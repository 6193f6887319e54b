// What one locality knows of another's load.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

struct known_load {
  locality_number number = 0;
  bool is_known = false;   // false: nothing has been heard of it, and what follows means nothing
  bool is_present = true;  // false: it has left the job or is lost
  double tasks = 0;        // running and eligible
  double workers = 0;
  // In periods: 0 is of this one. A locality in which nothing happens is silent, and what is known of it grows older.
  std::uint32_t age = 0;
  std::vector<double> values = {};  // of the program
};

}  // namespace trimtab::parcels

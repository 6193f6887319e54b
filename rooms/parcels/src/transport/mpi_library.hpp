// Finds the MPI library that a process uses, or loads one.
#pragma once

#include <string>
#include <vector>

#include "transport/mpi_abi.hpp"
#include "trimtab/parcels/transport/mpi_transport.hpp"

namespace trimtab::parcels::mpi {

struct library {
  std::string path = {};
  std::string version = {};  // the first line of what it says of itself
  mpi_launcher family = mpi_launcher::unknown;
  interface_table table = {};
  function_table call = {};
};

// One of the two. The library is never unloaded: what it has registered with the process would be left behind.
struct loaded_library {
  library mpi = {};
  std::string error = {};
};

// In this order: the one that the process has loaded already, the one at `path`, those that the loader finds by well-known
// names, or that came with the launcher. It must be of the launcher's family, if both are known.
loaded_library load_library(const std::string& path, mpi_launcher started_by);

// From what the library says of itself.
mpi_launcher family_of(std::string_view version);
// The names that are tried, in their order.
std::vector<const char*> candidate_names(mpi_launcher started_by);

}  // namespace trimtab::parcels::mpi

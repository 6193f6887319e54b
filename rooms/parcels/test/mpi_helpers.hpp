// What tests of the MPI transport share: this test program again as another process, alone or as ranks of an mpirun.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trimtab/parcels/transport/mpi_transport.hpp"

namespace trimtab::parcels {

struct child_result {
  bool has_started = false;
  int status = -1;  // exit status; -1: it was killed
  std::string output = {};
};

// Without a shell; the first word is looked for in PATH. Ends it after some minutes.
child_result run_command(const std::vector<std::string>& words);

struct mpirun {
  std::string command = {};
  mpi_launcher family = mpi_launcher::unknown;
};

// The different ones in PATH.
std::vector<mpirun> installed_mpiruns();

// This program, with the tests that the filter selects, as that many ranks.
child_result run_ranks(const mpirun& launcher, std::uint32_t ranks, const std::string& filter);
child_result run_alone(const std::string& filter);

// In a rank: who started it, and how many. size 0: nobody.
struct rank_surroundings {
  mpi_launcher started_by = mpi_launcher::unknown;
  std::uint32_t size = 0;
};
rank_surroundings look_around();
// TRIMTAB_TEST_MPI_LIBRARY, to try one that the loader does not find by itself.
std::string wanted_library();

}  // namespace trimtab::parcels

// Messages through the MPI library with which the job was started, whichever it is: it is loaded at run time, and nothing of
// it is needed to build this. One thread, the server, makes all MPI calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

enum class mpi_launcher : std::uint8_t { unknown, open_mpi, mpich };  // whose mpirun; mpich: also Intel MPI and others

struct mpi_options {
  // The library's file, where the process has not loaded one already; empty: one of the well-known names that the loader
  // finds.
  std::string library = {};
  // Who started this process, and how many processes (0: unknown). The library must be of the same family, and must agree.
  mpi_launcher started_by = mpi_launcher::unknown;
  std::uint32_t started_size = 0;
  std::size_t largest_message = std::size_t{256} << 10;  // from 4 KiB to 64 MiB, the same everywhere
  // How long the end of this transport waits for the ends of all others, in nanoseconds. After that, or where one is lost,
  // MPI is not finalized, and mpirun may then end the job.
  std::uint64_t patience_ns = 60'000'000'000;
};

// Number and size are MPI's; a membership is not needed. Collective over all processes of the job. If the program has
// initialized MPI itself, it must have asked for MPI_THREAD_MULTIPLE, because its calls overlap with the server's; it
// finalizes MPI after the transport's end. Otherwise the server initializes and finalizes MPI. Errors: no library, one whose
// binary interface is unknown or that does not belong to the launcher, too low a thread level, options that differ between
// the processes.
opened_transport open_mpi(const mpi_options& options);

}  // namespace trimtab::parcels

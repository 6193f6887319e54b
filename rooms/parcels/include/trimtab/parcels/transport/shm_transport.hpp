// Messages through memory that the processes of one host share: one ring of bytes for each pair of localities.
#pragma once

#include <cstddef>
#include <string>

#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

struct shm_options {
  // A file that all members open, such as /proc/PID/fd/N of a memory file (memfd_create) of the launcher, which vanishes
  // with its last user, or a path in /dev/shm. Whoever comes first gives it its size and its header; it may be empty.
  std::string path = {};
  // Size of one ring in bytes, a power of two from 16 KiB to 256 MiB. Memory is used only where messages have been. The one
  // who comes first decides.
  std::size_t ring_bytes = std::size_t{1} << 20;
};

// Returns when all members are there. Errors: the file, a member that did not come (named by its number), another secret,
// another size of the job, another version, a number that is taken twice.
opened_transport open_shm(const membership& self, const shm_options& options);

}  // namespace trimtab::parcels

// What job::job does before there is a job: it finds out from the environment which job this process belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "trimtab/options/rank_variables.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/transport/mpi_transport.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"
#include "trimtab/parcels/transport/tcp_transport.hpp"

namespace trimtab::parcels {

enum class job_transport : std::uint8_t { none, shm, tcp, mpi };

// How the job is opened: which transport, with what, and the job's options with what the user has set over the program's.
struct job_plan {
  job_transport transport = job_transport::none;
  membership self = {};
  shm_options shm = {};
  tcp_options tcp = {};
  mpi_options mpi = {};
  std::uint32_t local_size = 1;      // localities on this host
  std::string curve_folder = {};     // of communication servers
  std::optional<int> arrivals = {};  // file descriptor: who is told that this locality has come
  job_options options = {};
};

// Throws std::runtime_error, which names the variable, what was expected and what was found.
job_plan plan_job(const job_options& options, options::look_up_function look_up);

// CPUs of this process, in numbers that are enough for default_workers.
struct cpu_share {
  std::uint32_t available = 1;  // to this process
  std::uint32_t online = 1;
};
// Threads that run tasks, for one of `local_size` localities of a host. is_bound: the launcher may have given each a share
// of the CPUs already, as mpirun does.
std::uint32_t default_workers(cpu_share cpus, std::uint32_t local_size, bool is_bound) noexcept;

struct opened_job {
  std::unique_ptr<transport> link;  // nullptr: a job of one locality
  job_options options;
};
// Opens what the environment of this process asks for, and removes from it what no other process may use. Throws
// std::runtime_error.
opened_job open_from_environment(const job_options& options);

}  // namespace trimtab::parcels

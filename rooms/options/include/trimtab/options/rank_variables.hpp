// Ranks: the processes of a parallel job, as launchers tell them who they are.
#pragma once

#include <cstdint>

#include "trimtab/options/option.hpp"

namespace trimtab::options {

// What launchers of parallel jobs set in each rank, the innermost launcher first: Open MPI and MPICH start their own
// processes with srun inside Slurm. A rank has `rank` and, if it is not empty, `required`. As in
// python/trimtab/launcher/job.py, which has the reasons; a test compares the two.
struct rank_variables {
  const char* rank;
  const char* size;
  const char* required;
};

// In the order of rank_table.
enum class job_launcher : std::uint8_t { trimtab, open_mpi, pmi, pmix, slurm, none };

inline constexpr rank_variables rank_table[] = {
    {"TRIMTAB_JOB_RANK", "TRIMTAB_JOB_SIZE", ""},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
    {"PMI_RANK", "PMI_SIZE", ""},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
};

struct job_rank {
  job_launcher launcher = job_launcher::none;
  std::int64_t rank = -1;
  std::int64_t size = -1;  // -1: the launcher does not say
};

// A rank or a size is at most this.
inline constexpr std::uint64_t most_ranks = 0x7fffffff;

// Returns the value of a variable, or nullptr.
using look_up_function = const char* (*)(const option& option_row);

// Of this process. Values that a launcher sets wrongly are no mistake of the user's: they count as not given. Allocates
// nothing unless look_up does.
job_rank find_rank(look_up_function look_up) noexcept;

}  // namespace trimtab::options

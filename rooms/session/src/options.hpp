// Everything that can be set about the library inside a watched process: one table, read from the environment
// here and nowhere else. `trimtab run` sets these.
#pragma once

#include <string_view>

#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::session {

struct option {
  const char* name;  // of the environment variable
  const char* standard;
  const char* help;
};

inline constexpr option option_table[] = {
    {"TRIMTAB_RUN", "", "absolute path of the run directory; not set: nothing is recorded"},
    {"TRIMTAB_LEVEL", "profile", "off | idle | profile | trace"},
    {"TRIMTAB_MAX_TRACE", "1073741824", "bytes that a process's trace may take"},
    {"TRIMTAB_KEEP", "first", "first | last: which end of a full trace stays"},
    {"TRIMTAB_PROBES", "", "comma list of probes; empty: the defaults; +NAME adds to them; none"},
    {"TRIMTAB_SAMPLE_MS", "10", "period of the sampler thread, milliseconds, 1 to 10000"},
    {"TRIMTAB_FOLLOW", "1", "0: children of this process are not watched"},
    {"TRIMTAB_TUNE", "off",
     "off | on | frozen: TRIMTAB_SETTINGS only | known: so, but task runtimes search | shuffle: all by lot"},
    {"TRIMTAB_SETTINGS", "", "file of settings that earlier runs found"},
    {"TRIMTAB_VIRTUAL_THREADS", "",
     "file of functions of GCC's that were found fit for virtual threads: consent to use them"},
    {"TRIMTAB_SEARCH", "diagnosed", "search that tuning uses"},
    {"TRIMTAB_STEER_POLICY", "tuner", "tuner | arcs-online | arcs-offline | FILE.py"},
    {"TRIMTAB_BUDGET", "3", "percent of the run's time that tuning may cost, 0 to 100"},
    {"TRIMTAB_SEED", "1", "of all that is drawn by lot"},
    {"TRIMTAB_THREADS", "off", "off | fit | regions | asat-v1, -v2, -v1-timed, -v2-reset; NAME:TUNABLE=NUMBER,..."},
    {"TRIMTAB_THREADS_EVEN_IF_FIXED", "0", "1: also where the program says the number (num_threads, omp_set_num_threads)"},
    {"TRIMTAB_RECORD_SNAPSHOTS", "0", "1: all that steering is told is written into the run, to be replayed"},
};

// What launchers of parallel jobs set in each rank, the innermost launcher first: Open MPI and MPICH start their own
// processes with srun inside Slurm. A rank has `rank` and, if it is not empty, `required`. As in
// python/trimtab/launcher/job.py, which has the reasons; a test compares the two.
struct rank_variables {
  const char* rank;
  const char* size;
  const char* required;
};

inline constexpr rank_variables rank_table[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
    {"PMI_RANK", "PMI_SIZE", ""},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
};

enum class tune : std::uint8_t { off, on, frozen, shuffle };

enum class thread_policy : std::uint8_t { off, fit, asat_v1, asat_v2, asat_v1_timed, asat_v2_reset, regions };

// Whose searches change loops.
enum class steer_policy : std::uint8_t { tuner, arcs_online, arcs_offline, outside };

struct steering_options {
  tune how = tune::off;
  thread_policy threads = thread_policy::off;
  std::string_view thread_tunables;         // of that policy, "bad_trig=1,...": behind a colon
  bool is_even_if_fixed = false;            // consent to change numbers of threads that the program says itself
  const char* runtime_directory = nullptr;  // XDG_RUNTIME_DIR: for the registry, where there is no /dev/shm
  const char* settings = nullptr;           // a path
  const char* virtual_threads = nullptr;    // a path
  steer::search_kind search = steer::search_kind::diagnosed;
  steer_policy policy = steer_policy::tuner;
  const char* policy_file = nullptr;  // of one outside
  std::uint64_t budget_percent = 3;
  std::uint64_t seed = 1;
  bool is_waiting_set = false;  // how threads wait is the user's: KMP_BLOCKTIME and its like
  // Not what another policy is compared with, or has its own idea of.
  bool has_rules_of_ours() const noexcept {
    return how == tune::frozen || (how == tune::on && policy == steer_policy::tuner);
  }
  bool is_on() const noexcept { return how != tune::off || threads != thread_policy::off; }
};

struct options {
  observe::recorder_options recorder;
  observe::sampler_options sampler;
  steering_options steering;
  bool is_follow = true;
  bool is_other_ompt_tool = false;  // OMP_TOOL_LIBRARIES, which is the runtimes' own, names one
  // First setting that could not be read, for the run's list of what was unavailable; nullptr: none.
  const char* wrong_name = nullptr;
  const char* wrong_value = nullptr;
};

// look_up(name) returns the value or nullptr, as getenv does. What is not understood keeps its default.
options read_options(const char* (*look_up)(const char* name)) noexcept;

}  // namespace trimtab::session

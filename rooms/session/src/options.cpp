#include "options.hpp"

#include <cstring>

#include "trimtab/steer/thread_fitting/tunables.hpp"

namespace trimtab::session {

namespace {

using options::any_text;
using options::flag;
using options::number;
using options::path;
using options::row;
using options::selection;
using options::value;
using options::values;
using options::word;
using options::word_of;

constexpr std::string_view level_words[] = {"off", "idle", "profile", "trace"};
constexpr std::string_view keep_words[] = {"first", "last"};

std::string_view probe_word(std::size_t index) noexcept {
  const observe::probe_row* option_row = observe::probe_table;
  while (option_row->name != nullptr && index > 0) ++option_row, --index;
  return option_row->name == nullptr ? std::string_view() : option_row->name;
}

std::string_view search_word(std::size_t index) noexcept {
  return index < std::size(steer::all_searches) ? steer::name_of(steer::all_searches[index]) : std::string_view();
}

constexpr values thread_policies() noexcept {
  values words = word(word_of<thread_policy_words>);
  words.has_tunables = [](std::string_view name) { return !steer::tunables_of(name).empty(); };
  return words;
}

void set_policy(library_options& target, const value& to) noexcept {
  const bool is_file = to.index == value::is_file;
  target.steering.policy = is_file ? steer_policy::outside : static_cast<steer_policy>(to.index);
  target.steering.policy_file = is_file ? to.text : nullptr;
}

void set_threads(library_options& target, const value& to) noexcept {
  target.steering.threads = static_cast<thread_policy>(to.index);
  target.steering.thread_tunables = to.tunables;
}

void set_tunables_of_memory(library_options& target, const value& to) noexcept {
  if (to.text != nullptr && std::strstr(to.text, "glibc.malloc.") != nullptr) target.steering.is_memory_set = true;
}

void set_memory(library_options& target, const value&) noexcept { target.steering.is_memory_set = true; }

void set_waiting(library_options& target, const value&) noexcept { target.steering.is_waiting_set = true; }

constexpr row<library_options> table[] = {
    {run_option, [](library_options& into, const value& to) { into.recorder.run_directory = to.text; }},
    {{"TRIMTAB_LEVEL", "profile", word(word_of<level_words>), "how much is recorded"},
     [](library_options& into, const value& to) { into.recorder.level = static_cast<observe::record_level>(to.index); }},
    {{"TRIMTAB_MAX_TRACE", "1073741824", number(1, std::uint64_t{1} << 46), "bytes that the trace of a process may take"},
     [](library_options& into, const value& to) { into.recorder.max_trace_bytes = to.number; }},
    {{"TRIMTAB_KEEP", "first", word(word_of<keep_words>), "which end of a full trace is kept"},
     [](library_options& into, const value& to) { into.recorder.kept = static_cast<observe::keep>(to.index); }},
    {{"TRIMTAB_PROBES", "", selection(probe_word), "sources of counters; not set: the defaults"},
     [](library_options& into, const value& to) { into.sampler.probes = to.text; }},
    {{"TRIMTAB_SAMPLE_MS", "10", number(1, 10'000), "period of the sampler thread, in milliseconds"},
     [](library_options& into, const value& to) { into.sampler.period_ms = static_cast<std::uint32_t>(to.number); }},
    {{"TRIMTAB_FOLLOW", "1", flag(), "1: programs that this process starts are recorded, too"},
     [](library_options& into, const value& to) { into.is_follow = to.is_set(); }},
    {users_values_option, [](library_options& into, const value& to) { into.users_values = to.text; }},
    {{"TRIMTAB_INTERLEAVE", "0", flag(),
      "1: pages of memory come from all nodes of the machine in turn, unless you have chosen otherwise (numactl)"},
     [](library_options& into, const value& to) { into.is_interleaved = to.is_set(); }},
    {options::tune_option, [](library_options& into, const value& to) { into.steering.how = options::tuning_mode_of(to); }},
    {options::settings_option, [](library_options& into, const value& to) { into.steering.settings = to.text; }},
    {{"TRIMTAB_VIRTUAL_THREADS", "", path(),
      "file of the functions compiled by GCC that may run on virtual threads: consent to use them"},
     [](library_options& into, const value& to) { into.steering.virtual_threads = to.text; }},
    {{"TRIMTAB_SEARCH", "diagnosed", word(search_word), "search method of the policy tuner"},
     [](library_options& into, const value& to) { into.steering.search = steer::all_searches[to.index]; }},
    {options::policy_option, set_policy},
    {{"TRIMTAB_BUDGET", "3", number(0, 100), "largest share of the run's time that the search may cost, in percent"},
     [](library_options& into, const value& to) { into.steering.budget_percent = to.number; }},
    {{"TRIMTAB_SEED", "1", number(0, ~std::uint64_t{0}), "random seed of the search"},
     [](library_options& into, const value& to) { into.steering.seed = to.number; }},
    {{"TRIMTAB_THREADS", "off", thread_policies(), "policy that chooses fewer threads than the program would have"},
     set_threads},
    {{"TRIMTAB_THREADS_EVEN_IF_FIXED", "0", flag(),
      "1: also where the program sets the number itself (num_threads, omp_set_num_threads)"},
     [](library_options& into, const value& to) { into.steering.is_even_if_fixed = to.is_set(); }},
    {{"TRIMTAB_MAX_MEMORY", "0", number(0, std::uint64_t{1} << 46),
      "bytes of resident memory that a process may have because its allocator keeps memory; 0: a fifth above its peak "
      "before"},
     [](library_options& into, const value& to) { into.steering.max_memory_bytes = to.number; }},
    {{"TRIMTAB_RECORD_SNAPSHOTS", "0", flag(), "1: the input of every decision is recorded, for `trimtab replay`"},
     [](library_options& into, const value& to) { into.recorder.has_snapshots = to.is_set(); }},
};

constexpr const char* waiting_help = "how threads wait: where the user sets it, it is not changed";
constexpr const char* memory_help = "how the allocator keeps memory: where the user sets it, it is not changed";
constexpr row<library_options> foreign[] = {
    {options::runtime_directory_option,
     [](library_options& into, const value& to) { into.steering.runtime_directory = to.text; }},
    {{"KMP_BLOCKTIME", "", any_text(), waiting_help}, set_waiting},
    {{"KMP_LIBRARY", "", any_text(), waiting_help}, set_waiting},
    {{"OMP_WAIT_POLICY", "", any_text(), waiting_help}, set_waiting},
    {{"GLIBC_TUNABLES", "", any_text(), memory_help}, set_tunables_of_memory},
    {{"MALLOC_TRIM_THRESHOLD_", "", any_text(), memory_help}, set_memory},
    {{"MALLOC_MMAP_THRESHOLD_", "", any_text(), memory_help}, set_memory},
    {{"MALLOC_MMAP_MAX_", "", any_text(), memory_help}, set_memory},
    {{"MALLOC_TOP_PAD_", "", any_text(), memory_help}, set_memory},
    {{"OMP_TOOL_LIBRARIES", "", any_text(), "another OMPT tool, which the OpenMP runtime is left to"},
     [](library_options& into, const value&) { into.is_other_ompt_tool = true; }},
};

}  // namespace

std::span<const row<library_options>> library_table() noexcept { return table; }
std::span<const row<library_options>> foreign_table() noexcept { return foreign; }

library_options read_options(const char* (*look_up)(const options::option& of)) noexcept {
  library_options result;
  result.wrong = options::fill(result, library_table(), look_up);
  options::fill(result, foreign_table(), look_up);
  const options::job_rank place = options::find_rank(look_up);
  result.recorder.rank = place.rank;
  result.recorder.job_size = place.size;
  return result;
}

}  // namespace trimtab::session

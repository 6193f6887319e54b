// The recorder of one process: opens its directory in the run, hands out lanes and subjects, and keeps the
// tables of names. One instance lives in static storage; a forked child opens its own anew.
// Cold calls (open_lane, add_subject, ...) take a lock; nothing here throws, aborts or prints.
#pragma once

#include <atomic>
#include <optional>

#include "trimtab/base/appended_file.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/base/listed_page.hpp"
#include "trimtab/base/mapped_file.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/observe/activity.hpp"
#include "trimtab/observe/format.hpp"
#include "trimtab/observe/lane.hpp"
#include "trimtab/observe/subject_table.hpp"

namespace trimtab::observe {

// What a construct of the program is known by: code at an address (0: none).
struct code_subject {
  subject_kind kind;
  const void* address;
  bool is_call;  // the address is where a call returns to
  std::uint16_t runtime = 0;
  std::uint32_t parent = no_subject;
};

// What a compiler says of a construct's source. nullptr or "": nothing.
struct source_place {
  const char* file = nullptr;
  const char* function = nullptr;
  std::uint32_t line = 0;
};

class recorder;

enum class keep : std::uint32_t { first, last };  // which end of a full trace stays

struct recorder_options {
  const char* run_directory = nullptr;  // absolute, exists
  record_level level = record_level::profile;
  std::uint64_t max_trace_bytes = std::uint64_t{1} << 30;
  keep kept = keep::first;
  std::int64_t rank = -1;      // in the job that the process belongs to; -1: in none
  std::int64_t job_size = -1;  // ranks of that job; -1: not known
  // Begins as a page in the run's list of processes (RUN/<host>.processes); a folder is made when it is needed: by the first
  // lane, or the first name or sample that the page has no room for. Most processes of a script never need one.
  bool is_listed = false;
  bool has_snapshots = false;           // what steering is told is written into the process's directory, too: by who steers
  std::uint32_t flight_events = 4096;   // ring of the last events per lane, at profile level
  std::uint32_t most_lanes = 1u << 14;  // more are refused; and more than the kernel has mappings for
  // Told on the lane's own thread (session puts the sampler here); nullptr: nobody.
  void (*lane_opened)(recorder& owner, lane& which) noexcept = nullptr;
  void (*lane_closed)(recorder& owner, lane& which) noexcept = nullptr;
};

class recorder {
 public:
  static constexpr std::uint32_t max_lanes = 1u << 14;
  static constexpr double short_life_ns = 20e6;

  // Makes RUN/<host>-<pid>-<n>/ with its tables, or adds a page to the list of processes. Returns 0 or an errno; on failure
  // the recorder stays off.
  int open(const recorder_options& options) noexcept;

  // The program ends in an orderly way (exit, or exec about to replace it). Idempotent; lanes may go on.
  void close(process_state end_state) noexcept;

  // After close: the end that was seen did not come (exec failed).
  void reopen() noexcept;

  // False in the child of a vfork, which shares its parent's memory.
  bool is_of_this_process() const noexcept;

  // In the child of a fork: forget the parent's files (it still writes them). Our own directory is made with
  // the first lane, since most children only call exec.
  void after_fork() noexcept;

  // Counts forks: what a caller cached about subjects or lanes is stale when it has changed.
  std::uint32_t generation = 0;

  bool is_on() const noexcept { return m_state.load(std::memory_order_acquire) == state::on; }
  bool is_off() const noexcept { return m_state.load(std::memory_order_relaxed) == state::off; }
  record_level level() const noexcept { return m_level; }
  bool traces() const noexcept { return m_level == record_level::trace; }
  const recorder_options& options() const noexcept { return m_options; }
  bool trace_is_full() const noexcept { return m_trace_full.load(std::memory_order_relaxed); }
  double ticks_of_ns(double ns) const noexcept { return ns / m_clock.ns_per_tick; }
  base::ticks clock_read() const noexcept { return m_clock_read; }  // what one takes, measured at the start
  process_header& process() noexcept { return *m_process; }
  // The process's folder, which is made if there is none yet; "": it cannot be made.
  const char* directory() noexcept {
    leave_list();
    return m_directory;
  }
  const base::clock_calibration& clock() const noexcept { return m_clock; }
  std::uint32_t lanes() const noexcept { return m_lane_count.load(std::memory_order_acquire); }
  lane* lane_at(std::uint32_t id) noexcept { return m_lanes[id].load(std::memory_order_acquire); }

  // The calling thread's lane, opened at first use; nullptr when off or when none could be opened.
  lane* open_lane() noexcept;
  void close_lane(lane& affected_lane) noexcept;

  // A lane that is not a thread's: `number` of its kind (a CPU's number, say), under a title that reports show (at most 39
  // bytes). Threads write it through a lane_writer. The lane that was closed with the same three is opened again. nullptr
  // when off, or when none could be opened, which the report then says.
  lane* add_lane(lane_kind kind, std::uint32_t number, const char* title) noexcept;
  // What it stands for has ended. By a thread that holds its lane_writer, or after all of them.
  void end_lane(lane& affected_lane) noexcept;

  // Subject of `kind` at code address `address` (0: none), found or made. Lock-free when known.
  std::uint32_t subject(subject_kind kind, const void* address, bool is_call, std::uint16_t runtime = 0,
                        std::uint32_t parent = no_subject) noexcept;
  // Subject known by name (and place, if given); called once per place, so it may lock.
  std::uint32_t named_subject(subject_kind kind, const char* name, const char* file, std::uint32_t line) noexcept;
  // What the runtime says of a subject's source ("" or nullptr: nothing). For the next subject made at address.
  std::uint32_t subject_with_source(const code_subject& code, const source_place& from) noexcept;

  // Code at [begin, end) is gone (dlclose): what comes to stand there is another. The same code loaded again, there
  // or elsewhere, has its old subjects again.
  void forget_code(std::uintptr_t begin, std::uintptr_t end) noexcept;

  // Where code stands: "BUILD_ID+0xOFFSET", or the object's name where it carries no build id; the same in every run of the
  // same build. False: in no object. Takes the loader's lock: never in a hook.
  static bool place_of(const void* address, char* buffer, std::size_t room) noexcept;

  std::uint32_t add_counter(const char* name, const char* unit, const char* source, bool is_cumulative) noexcept;
  void sample(std::uint32_t counter, std::uint32_t lane, double value, base::ticks at) noexcept;
  void unavailable(const char* feature, const char* reason, const char* remedy) noexcept;
  void fact(const char* key, const char* value) noexcept;
  std::uint16_t add_runtime(const char* name, const char* path, const char* version) noexcept;

  // What a steering thread decides. Names of values: those of 0, 1, ... with commas between; "": the values are numbers.
  std::uint32_t add_knob(std::uint32_t subject, const char* name, const char* key, const char* value_names) noexcept;
  std::uint16_t add_policy(const char* name) noexcept;
  void decide(const decision& record) noexcept;  // decisions.tt

  // Outermost parallel regions of all host threads: keeps the time during which any is active.
  void parallel_enter(base::ticks at) noexcept {
    if (m_parallel.fetch_add(1, std::memory_order_acq_rel) == 0)
      std::atomic_ref(m_process->parallel_since).store(at, std::memory_order_release);
  }
  void parallel_leave(base::ticks at) noexcept {
    // Read before the count falls: a region that begins right after it stores a new beginning.
    const auto since_ticks = std::atomic_ref(m_process->parallel_since).load(std::memory_order_acquire);
    if (m_parallel.fetch_sub(1, std::memory_order_acq_rel) == 1 && at > since_ticks)
      std::atomic_ref(m_process->parallel_ticks).fetch_add(at - since_ticks, std::memory_order_relaxed);
  }
  // Workers of task runtimes that run tasks: time during which any does is parallel, and told apart as well.
  void work_enter(base::ticks at) noexcept {
    if (m_working.enter(at)) parallel_enter(at);
  }
  void work_leave(base::ticks at) noexcept {
    if (m_working.leave(at)) parallel_leave(at);
  }
  base::ticks worked_until(base::ticks at) const noexcept { return m_working.until(at); }
  bool is_parallel() const noexcept { return m_parallel.load(std::memory_order_relaxed) != 0; }
  std::uint64_t new_instance() noexcept { return m_instances.fetch_add(1, std::memory_order_relaxed) + 1; }

  // How many CPUs the process may use, if it has not been read yet. While it is in the list, only its affinity is known.
  void read_limits() noexcept;
  // A process that ends at `at` has hardly lived: what takes long to read is left out.
  bool is_short(base::ticks at) const noexcept;
  // By the sampler thread, every few milliseconds: heartbeat, room for the streams, final figures.
  void heartbeat(base::ticks at) noexcept;
  bool make_streams_ready() noexcept;             // whether it may wait for longer than usual until the next time
  void add_switch(const event& record) noexcept;  // switches.tt

  // Counts what the calling thread spends while this lives as own cost.
  class setup_cost {
   public:
    explicit setup_cost(recorder& owner) noexcept;
    ~setup_cost();
    setup_cost(const setup_cost&) = delete;
    setup_cost& operator=(const setup_cost&) = delete;

   private:
    recorder& m_of;
    std::uint64_t m_begin;
  };

 private:
  friend class lane;
  void refuse_subjects(int error) noexcept;
  std::uint32_t find_or_add(std::uint64_t key, name_subject& fixed, const void* address,
                            const char* const (&strings)[3]) noexcept;
  int create_directory() noexcept;  // and begins the process's header in it
  int make_folder() noexcept;
  int create_tables() noexcept;  // the folder's files
  void remove_tables() noexcept;
  void begin_process_header(std::byte* at) noexcept;
  void begin_in_list() noexcept;
  int enter_list() noexcept;
  // From the list into a folder; 0 or an errno. The first waits for the lock, the second needs it.
  int leave_list() noexcept;
  int leave_list_under_lock() noexcept;
  bool sample_in_list(std::uint32_t counter, std::uint32_t lane, double value, base::ticks at) noexcept;
  std::byte* place_of_name(std::size_t bytes) noexcept;
  void record_cpus() noexcept;  // the fact "cpus"
  void begin_limits() noexcept;
  void read_limits_under_lock() noexcept;
  int create_file(base::mapped_file& file, const char* name, file_kind kind, std::uint32_t record_bytes, std::size_t bytes,
                  std::size_t reserve) noexcept;
  int create_file(base::appended_file& file, const char* name, file_kind kind, std::uint32_t record_bytes,
                  std::size_t bytes) noexcept;
  // False: too long a path.
  bool path_of(const char* name, char (&buffer)[576]) const noexcept;
  // A new file has no magic, so that readers take it for absent, until it is published.
  static void write_header(std::byte* at, file_kind kind, std::uint32_t record_bytes, std::size_t file_bytes) noexcept;
  static void publish(std::byte* at) noexcept;
  template <class record_type>
  void append(base::appended_file& file, const char* name, file_kind kind, std::size_t first_bytes,
              const record_type& record) noexcept;
  // Under m_sample_lock. False: dropped.
  template <class record_type>
  bool append_under_lock(base::appended_file& file, const char* name, file_kind kind, std::size_t first_bytes,
                         const record_type& record) noexcept;
  bool open_in_child() noexcept;
  // nullptr, and why: what errno calls it; E2BIG: there are too many.
  lane* new_lane(int& error) noexcept;
  bool has_room_for_lane() noexcept;
  lane* closed_thread_lane() noexcept;
  lane* closed_lane(lane_kind kind, std::uint32_t number, const char* title) noexcept;
  void give_to_this_thread(lane& opened, base::ticks begin) noexcept;
  // 0 or an errno.
  int prepare_lane(lane& affected_lane) noexcept;
  int create_events(lane& affected_lane) noexcept;
  void report_refused_lane(int error) noexcept;
  void lengthen_all(std::uint32_t count) noexcept;
  static std::optional<std::uint64_t> written_of_stream(const lane& affected_lane) noexcept;
  bool lengthen(lane& affected_lane, std::uint64_t written) noexcept;
  static std::uint64_t warm(lane& affected_lane, std::uint64_t written) noexcept;
  // By the lane itself, of a flight recorder: makes its pages from event `begin` on.
  void warm_rest(lane& affected_lane, std::uint64_t begin) noexcept;
  std::uint32_t module_of(const void* address) noexcept;
  void append_fact(const char* key, const char* value) noexcept;
  void append_unavailable(const char* feature, const char* reason, const char* remedy) noexcept;
  // Who this process is among all of the run.
  void append_identity() noexcept;
  void append_name(name_record* fixed, std::size_t fixed_bytes, const char* const* strings, int count) noexcept;
  bool take_trace_budget(std::uint64_t bytes) noexcept;

  enum class state : std::uint32_t { off, on, forked };
  std::atomic<state> m_state{state::off};
  std::uint32_t m_forked_from = 0;
  record_level m_level = record_level::off;
  recorder_options m_options;
  char m_run_directory[400] = {};
  char m_directory[512] = {};
  base::clock_calibration m_clock;
  base::ticks m_clock_read = 0;
  process_header* m_process = nullptr;
  // Of a process in the list; m_process points into it. Later the file of its folder lies in the same place.
  alignas(base::listed_page::bytes) std::byte m_page[base::listed_page::bytes] = {};
  base::listed_page m_listed_page;
  std::atomic<bool> m_is_listed{false};
  int m_folder_error = 0;  // of the folder that could not be made: it is not tried again
  base::mapped_file m_process_file;
  base::appended_file m_names_file, m_counters_file, m_switches_file, m_decisions_file;
  std::atomic<std::uint32_t> m_lane_count{0};
  std::atomic<lane*> m_lanes[max_lanes] = {};
  std::atomic<std::uint32_t> m_parallel{0};
  activity m_working;
  std::atomic<std::uint64_t> m_instances{0};
  std::atomic<std::uint64_t> m_trace_used{0};
  std::atomic<bool> m_trace_full{false};
  std::atomic<bool> m_has_refused_lanes{false};
  std::atomic<bool> m_has_refused_subjects{false};
  subject_table m_subjects;
  std::uint32_t m_subject_count = 0;
  std::uint32_t m_mapped_lanes = 0;  // lanes that the kernel has mappings for; 0: not asked yet
  std::uint32_t m_counter_count = 0;
  std::uint32_t m_knob_count = 0;
  std::uint32_t m_module_count = 0;
  std::uint16_t m_runtime_count = 0;
  std::uint16_t m_policy_count = 0;
  struct module {
    std::uint64_t base, begin, end;  // begin = end: unloaded
    std::uint64_t identity;          // of path and build id
  };
  static constexpr std::uint32_t max_modules = 4096;
  bool m_has_refused_modules = false;
  module m_modules[max_modules] = {};
  base::spin_lock m_open_lock;    // opening anew in a forked child
  base::spin_lock m_lock;         // lanes, subjects, names
  base::spin_lock m_sample_lock;  // counters.tt, switches.tt, decisions.tt
};

// The process's recorder, and the calling thread's lane. Both in the one library that carries this room.
extern recorder the_recorder;

extern constinit thread_local lane* t_lane;  // nullptr: not opened yet

// nullptr when not recording. The first call of a thread opens its lane.
inline lane* this_lane() noexcept {
  if (t_lane != nullptr) [[likely]]
    return t_lane;
  return the_recorder.is_off() ? nullptr : the_recorder.open_lane();
}

}  // namespace trimtab::observe

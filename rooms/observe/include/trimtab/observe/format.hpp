// The bytes of a run directory: what C++ writes and every reader reads. docs/run-directory.md says the
// same in prose; tests/golden holds files that the C++ and the Python test-suites both read.
//
//   RUN/run.json                 by the launcher: command, machine, how it ended
//   RUN/<host>-<pid>-<n>/process.tt     one page: who this process is, its clock, how far it got
//   RUN/<host>-<pid>-<n>/names.tt       page + tagged records: modules, subjects, counters, what was unavailable
//   RUN/<host>-<pid>-<n>/counters.tt    page + sample records over time, written by the sampler thread
//   RUN/<host>-<pid>-<n>/switches.tt    page + event records: the lanes' context switches (where permitted)
//   RUN/<host>-<pid>-<n>/decisions.tt   page + decision records: what was changed while the program ran, and why
//   RUN/<host>-<pid>-<n>/lane-0000.events    page + event records, a ring or an append-only stream
//   RUN/<host>-<pid>-<n>/lane-0000.profile   page + profile rows
//
// Every file begins with a file_header of 4096 bytes; records of `record_bytes` follow, `written` of them
// complete (stored with release order after the record itself: a process killed at any instant leaves
// whole records below it). All integers little-endian, all times in ticks of the process's clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::observe {

inline constexpr char file_magic[8] = {'T', 'R', 'I', 'M', 'T', 'A', 'B', '\0'};
inline constexpr std::uint32_t format_version = 1;
// Rises with what older readers may pass over: kinds of events, metrics, fields behind those that there were.
inline constexpr std::uint64_t format_minor = 2;
inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::uint32_t no_lane = 0xffffffffu;
inline constexpr std::uint32_t no_subject = 0xffffffffu;
inline constexpr std::uint64_t unknown = ~std::uint64_t{0};

enum class file_kind : std::uint32_t {
  process = 1,
  names = 2,
  counters = 3,
  events = 4,
  profile = 5,
  switches = 6,
  decisions = 7,
};

// Offset 0 of every file; the kind-specific header follows at offset 64, within the same page.
struct file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_size;  // 4096
  file_kind kind;
  std::uint32_t record_bytes;  // 0 for names (variable) and process (none)
  std::uint64_t capacity;      // records (names: bytes) that the file has room for now
  std::uint64_t written;       // records (names: bytes) ever written; above capacity: a ring that wrapped
  std::uint64_t dropped;       // records that found no room
  std::uint64_t minor;         // format_minor
  std::uint64_t reserved;
};
static_assert(sizeof(file_header) == 64);

enum class process_state : std::uint32_t {
  running = 1,   // never reached an end that we saw: killed, or still alive
  exited = 2,    // ran its destructors: exit() or return from main
  replaced = 3,  // exec
};
enum class clock_kind : std::uint32_t { tsc = 1, monotonic = 2 };
enum class record_level : std::uint32_t { off = 0, idle = 1, profile = 2, trace = 3 };

// process.tt at offset 64. Ticks to CLOCK_MONOTONIC nanoseconds:
//   ns = mono_ns_0 + (ticks - ticks_0) * ns_per_tick
struct process_header {
  std::uint32_t pid;
  std::uint32_t ppid;
  clock_kind clock;
  record_level level;
  process_state state;
  std::uint32_t lanes;  // lanes ever opened = number of lane-* pairs
  std::uint64_t ticks_0;
  std::uint64_t mono_ns_0;
  std::uint64_t real_ns_0;  // CLOCK_REALTIME at ticks_0
  double ns_per_tick;
  std::uint64_t start_ticks;  // when the library was loaded
  std::uint64_t last_ticks;   // heartbeat: process known alive
  std::uint64_t end_ticks;    // 0 until the end was seen
  double cpus_available;      // min(affinity, quota)
  std::uint32_t cpus_affinity;
  std::uint32_t cpus_online;
  double cpus_quota;             // 0: none
  std::uint64_t parallel_ticks;  // time during which at least one outermost region was active
  std::uint64_t parallel_since;  // 0, or when the phase now under way began
  std::uint64_t setup_ticks;     // own cost: spent setting up (process, lanes, subjects)
  std::uint64_t sampler_cpu_ns;  // own cost: CPU time of the sampler thread
  double clock_read_ns;          // own cost: one clock read, measured at start
  std::uint64_t forked_from;     // pid of the process this one forked from, without exec; 0 otherwise
  // At exit, or by heartbeat: getrusage(RUSAGE_SELF)
  std::uint64_t user_ns;
  std::uint64_t system_ns;
  std::uint64_t voluntary_switches;
  std::uint64_t involuntary_switches;
  std::uint64_t max_rss_kb;
  char command[2048];  // argv joined by NUL, cut off at the end
};
static_assert(sizeof(process_header) <= header_bytes - 64);

// lane-*.events and lane-*.profile at offset 64.
struct lane_header {
  std::uint32_t lane;
  std::uint32_t tid;          // thread that has the lane now, or had it last
  std::uint64_t start_ticks;  // lane opened
  std::uint64_t end_ticks;    // last thread of it ended; 0: open
  std::uint32_t threads;      // threads that had this lane, one after another
  std::uint32_t is_main;      // 1: the process's first thread
  char name[16];              // thread name
  // Of finished threads plus the present one, by the sampler or at thread end (schedstat, status):
  std::uint64_t run_ns;
  std::uint64_t run_delay_ns;
  std::uint64_t time_slices;
  std::uint64_t voluntary_switches;
  std::uint64_t involuntary_switches;
  std::uint64_t migrations;   // unknown: not available
  std::uint64_t alive_ticks;  // of finished threads
  // Own cost, counted by the lane's own thread:
  std::uint64_t hooks;  // calls of ours that the program made
  std::uint64_t clock_reads;
  // Of a worker of a task runtime:
  std::uint32_t worker_of;  // subject of its runtime, plus one; 0: no worker
  std::uint32_t worker;     // number in its runtime
  char title[40];           // what the runtime calls it; "": nothing
};

// One event. What a and b mean depends on kind (see event_kind).
struct event {
  std::uint64_t ticks;
  std::uint32_t subject;
  std::uint16_t kind;
  std::uint16_t arg;
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(event) == 32);

enum class event_kind : std::uint16_t {
  none = 0,
  // pairs: ticks = when it happened
  region_begin = 1,  // on the forking lane. arg: nesting level (1 = outermost), a: instance, b: parent instance or 0
  region_end = 2,    // a: instance, b: threads that took part (0: not accounted yet)
  work_begin = 3,    // a lane starts its part. a: instance (0: the one of that subject in whose time it lies),
                     // b: thread number
  work_end = 4,      // a: as at the begin, b: ticks in it spent waiting (barriers, locks, inner joins)
  task_begin = 5,    // a: task identity (0: not known)
  task_end = 6,      // a: task identity
  scope_begin = 7,   // program's own (trimtab.h)
  scope_end = 8,
  // whole: ticks = begin, a = duration in ticks
  loop = 16,    // arg: schedule, b: iterations that this lane executed
  wait = 17,    // arg: wait_kind, b: instance or 0
  chunk = 18,   // arg: schedule, b: first iteration (signed) ; a: iterations (instead of a duration)
  lock = 19,    // critical, held: a = ticks held, b = ticks waited before
  single = 20,  // arg: 1 when this lane executed it; a = 0
  // points
  task_created = 32,    // a: task, b: creating task or 0
  task_ready = 33,      // a: task, b: task that made it so, or 0
  task_suspended = 34,  // arg: wait_cause, a: task, b: task that it waits for, or 0
  task_resumed = 35,    // arg: wait_cause, a: task, b: ticks since it was suspended (0: not told)
  edge = 36,            // arg: wait_cause, task b could not go on before task a gave it something
  mark = 40,            // program's own
  thread_begin = 41,    // a: tid
  thread_end = 42,      // a: tid
  worker_state = 43,    // of the lane's worker from here on. arg: worker_state; subject: its runtime
  // switches.tt only. a: CPU, b: lane
  switch_out = 48,  // arg: 1 = preempted (was still runnable)
  switch_in = 49,
};

enum class wait_kind : std::uint16_t {
  join = 1,     // the barrier at the end of a region
  barrier = 2,  // explicit, or at the end of a loop, single or sections
  critical = 3,
  ordered = 4,
  single = 5,    // copyprivate
  taskwait = 6,  // taskwait, taskgroup, end of taskloop
  reduction = 7,
  lock = 8,  // omp_set_lock
};

// What the worker of a task runtime does.
enum class worker_state : std::uint16_t {
  none = 0,  // no worker, or no longer
  runs = 1,  // runs tasks, and finds the next one at once
  looks = 2,
  idle = 3,    // parked: there was nothing to run
  capped = 4,  // parked: the runtime may not use more workers
};

// What a task waits for, or what one task gives another.
enum class wait_cause : std::uint16_t {
  other = 0,
  future = 1,
  slot = 2,  // input of a task of a graph
  mutex = 3,
  condition = 4,
  semaphore = 5,
  latch = 6,
  barrier = 7,
  channel = 8,
  children = 9,  // forked tasks
  time = 10,
};

enum class schedule : std::uint16_t {
  none = 0,
  static_ = 1,  // one block a thread
  static_chunked = 2,
  dynamic = 3,
  guided = 4,
  runtime = 5,
  auto_ = 6,
  static_inferred = 7,  // GCC inlines static loops: inferred from the calls that remain
  sections = 8,
  distribute = 9,
};

enum class subject_kind : std::uint16_t {
  region = 1,
  loop = 2,
  barrier = 3,
  critical = 4,
  single = 5,
  sections = 6,
  task = 7,
  taskwait = 8,
  taskloop = 9,
  ordered = 10,
  lock = 11,
  scope = 12,  // program's own
  mark = 13,
  teams = 14,
  workers = 15,  // of a task runtime
};

enum class decision_outcome : std::uint16_t {
  trial = 1,   // in force, not accepted
  kept = 2,    // accepted, after a trial
  undone = 3,  // back to what was accepted
  set = 4,     // accepted at once, by a rule
};

// A profile row: one subject, one metric, on one lane. Only the lane whose file it is in writes it;
// `about` is the lane it speaks of (team rows are written by the forking lane about each member).
enum class metric : std::uint16_t {
  // ticks = wall of an instance; x[0]: sum of threads, x[1]: most threads, x[2]: sum over instances of the
  // slowest lane's work, x[3]: sum over instances of the lanes' mean work. flags: region_flags
  region = 1,
  // ticks = work of lane `about` in an instance; x[0]: join wait, x[1]: arrival, x[2]: waits inside, x[3]: spread of ends
  // (0). flags: region_flags
  team = 2,
  // ticks = time this lane was in the loop; x[0]: iterations it executed, x[1]: chunks it took,
  // x[2]: chunk size (0: none), x[3]: trip count of one instance (unknown: not known). flags: schedule
  loop = 3,
  wait = 4,  // ticks = time waited. flags: wait_kind
  lock = 5,  // ticks = time waited to enter; x[0]: time held, x[1]: entries that waited over 1 us
  // ticks = time executing, without inner tasks and what OpenMP's waited; x[0]: created by this lane, x[1]: inclusive time
  // (not of sampled), x[2]: times suspended, x[3] (counted): estimate of the ticks of all of count. flags: task_flags
  task = 6,
  scope = 7,   // ticks = time inside
  single = 8,  // count = passages; x[0]: executed by this lane
  // ticks = time that the lane's worker was in a state; x[0]: of it, while any worker ran tasks; while it is in the
  // state, x[1]: since when, x[2]: how long any worker had run until then. flags: worker_state
  worker = 9,
  suspended = 10,  // ticks = time that tasks were suspended, of those resumed by this lane. flags: wait_cause
};

// Of rows of metrics region and team; 0: all instances were timed in full.
namespace region_flags {
inline constexpr std::uint16_t untimed = 1;  // fork and join were timed, the members were not: x[2] and x[3] are 0
inline constexpr std::uint16_t sample = 2;   // instances between those, timed in full
}  // namespace region_flags

// Of rows of metric task.
namespace task_flags {
inline constexpr std::uint16_t counted = 1;    // count is exact, and some of them were timed
inline constexpr std::uint16_t inclusive = 2;  // ticks include inner tasks
inline constexpr std::uint16_t sampled = 4;    // of counted: OpenMP's tasks, which were picked at random
}  // namespace task_flags

inline constexpr std::size_t histogram_buckets = 42;

struct profile_row {
  std::uint32_t subject;
  metric what;
  std::uint16_t flags;
  std::uint32_t about;      // lane
  std::uint32_t in_region;  // subject of the enclosing region, or no_subject
  std::uint64_t count;
  std::uint64_t timed;  // how many of count were timed; sum * count / timed estimates the total
  std::uint64_t sum;
  std::uint64_t min;
  std::uint64_t max;
  std::uint64_t x[4];
  std::uint32_t histogram[histogram_buckets];  // bucket i: durations of bit width i (2^(i-1) .. 2^i - 1 ticks)
};
static_assert(sizeof(profile_row) == 256);

// counters.tt
struct sample {
  std::uint64_t ticks;
  std::uint32_t counter;  // its definition is in names.tt
  std::uint32_t lane;     // or no_lane
  double value;
  std::uint64_t reserved;
};
static_assert(sizeof(sample) == 32);

// decisions.tt: a change of one knob. One decision may change several: records in turn, with the same number.
struct decision {
  std::uint64_t ticks;
  std::uint64_t number;  // of the process, from 1
  std::uint32_t subject;
  std::uint32_t knob;  // its definition is in names.tt
  std::int64_t from;
  std::int64_t to;
  double gain;          // share of the subject's time that it saves; meaningless with pairs = 0
  double uncertainty;   // half the width of a 95 % interval of the gain
  std::uint32_t pairs;  // of measurements that the gain rests on; 0: none
  decision_outcome outcome;
  std::uint16_t policy;  // in names.tt; 0: none
  char text[192];        // reason and evidence (NAME=VALUE, blanks between), a NUL behind each, cut off where too long
};
static_assert(sizeof(decision) == 256);

// names.tt: each record begins with name_record and is padded to 8 bytes; strings are NUL-terminated, in
// the order given, directly behind the fixed part.
enum class name_tag : std::uint16_t {
  module = 1,       // name_module; path, build id in hex ("" if none)
  subject = 2,      // name_subject; name, file, function ("" where the runtime did not say)
  counter = 3,      // name_counter; name, unit, source
  unavailable = 4,  // name_plain; what, why, remedy
  runtime = 5,      // name_runtime; name (libgomp, libomp, libiomp5), path, version
  fact = 6,         // name_plain; key, value
  knob = 7,         // name_knob; name, key of its subject from run to run, names of the values 0, 1, ... ("": numbers)
  policy = 8,       // name_policy; name
};
struct name_record {
  std::uint32_t bytes;  // whole record, a multiple of 8
  name_tag tag;
  std::uint16_t reserved;
};
struct name_plain {
  name_record head;
};
struct name_module {
  name_record head;
  std::uint32_t id;
  std::uint32_t reserved;
  std::uint64_t base;  // load address: address - base = offset in the file's address space
  std::uint64_t end;
};
struct name_subject {
  name_record head;
  std::uint32_t id;
  subject_kind kind;
  std::uint16_t runtime;  // 0: none
  std::uint32_t module;   // no_subject: none
  std::uint32_t line;     // 0: not known
  std::uint64_t offset;   // of the outlined function, or of the call's return address
  std::uint32_t parent;   // subject of the region it was first seen in, or no_subject
  std::uint32_t is_call;  // 1: offset is a return address (look up offset - 1)
};
struct name_counter {
  name_record head;
  std::uint32_t id;
  std::uint32_t is_cumulative;  // 1: ever growing; 0: a level
};
struct name_knob {
  name_record head;
  std::uint32_t id;
  std::uint32_t subject;
};
struct name_policy {
  name_record head;
  std::uint16_t id;
  std::uint16_t reserved[3];
};
struct name_runtime {
  name_record head;
  std::uint16_t id;
  std::uint16_t reserved[3];
};

}  // namespace trimtab::observe

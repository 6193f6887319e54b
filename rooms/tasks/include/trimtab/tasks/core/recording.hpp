// What a runtime tells Trimtab's recorder, under `trimtab run`. Elsewhere is_enabled() is false, and nothing else is to be
// called: that one relaxed load is all that a task then costs.
//
// Two levels. `profile`: tasks are counted, each worker by itself (tally), and told of many at a time. `trace`: each
// task is told of when something happens to it (task_*), under the identity that `record_created` gave it.
//
//   runtime's constructor   m_recorded = recording::attach("runtime");
//   worker thread, first    recording::worker_begins(m_recorded, number);
//   at each change          recording::worker_state(recording::state::looks);
//   last                    m_tally.flush(); recording::worker_ends();
//   a task is made          if (recording::is_enabled()) task.subject = recording::kind_of_call<function>::subject(f),
//                           task.id = recording::record_created(task.subject, m_tally);
//   it is run               if (recording::is_enabled()) { recording::run_guard guard(task.subject, task.id, m_tally); ... }
//
// All functions may be called from any thread, do not throw, and allocate nothing on the paths of tasks. Identities and
// subjects are 0 for what is not recorded; every function takes these and does nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "trimtab/base/clock.hpp"

namespace trimtab::tasks::recording {

enum class level : std::uint32_t { disabled = 0, profile = 2, trace = 3 };

// What a worker does, as of now. Work that the first look at every queue finds is part of `runs`.
enum class state : std::uint32_t { absent, runs, looks, idle, capped };

// What a task waits for, or what one task gives another.
enum class cause : std::uint32_t {
  unknown,
  future,
  slot,  // an input of a task of a graph
  mutex,
  condition,
  semaphore,
  latch,
  barrier,
  channel,
  children,  // forked tasks
  time,
};

namespace detail {
inline constinit std::atomic<level> current{level::disabled};
// Rises in a forked child, where all subjects are new.
inline constinit std::atomic<std::uint32_t> generation{1};
// The subject of `code`, which is also stored in `cache`.
std::uint32_t find_subject(std::atomic<std::uint64_t>& cache, const void* code) noexcept;
}  // namespace detail

inline bool is_enabled() noexcept { return detail::current.load(std::memory_order_relaxed) != level::disabled; }
inline bool traces() noexcept { return detail::current.load(std::memory_order_relaxed) == level::trace; }

// Once per runtime, before its workers begin; turns recording on where the process is watched. Returns what its
// workers are to be told by, 0 where nothing is recorded. In runs it is called "NAME N", N counting from 1.
std::uint32_t attach(const char* name) noexcept;

// On a worker's thread. It is called "NAME N, worker NUMBER", and runs tasks from here on.
void worker_begins(std::uint32_t runtime, std::uint32_t number) noexcept;
// Costs some 40 ns.
void worker_state(state next) noexcept;
void worker_ends() noexcept;

// Subjects: what is common to tasks of one kind. Take a lock at first: keep the number, see `kind` and `kind_of_call`.
std::uint32_t subject_of(const char* name, const char* file, std::uint32_t line) noexcept;
std::uint32_t subject_of_code(const void* code) noexcept;
// Of a name without a place, of any storage. It may be one of many that are made up: 0 for those beyond the first thousand.
std::uint32_t subject_of_name(std::string_view name) noexcept;

// The subject of tasks of one kind, found once: one static object for each. A load and a comparison afterwards.
class kind {
 public:
  // code: of the function that is the task (code_of). name: nullptr: known by its code; neither: not recorded.
  constexpr explicit kind(const void* code, const char* name = nullptr, const char* file = "",
                          std::uint32_t line = 0) noexcept
      : m_code(code), m_name(name), m_file(file), m_line(line) {}
  std::uint32_t subject() noexcept {
    const std::uint64_t cached = m_cached.load(std::memory_order_relaxed);
    if (cached >> 32 == detail::generation.load(std::memory_order_relaxed)) [[likely]]
      return static_cast<std::uint32_t>(cached);
    return find();
  }

 private:
  std::uint32_t find() noexcept;

  std::atomic<std::uint64_t> m_cached{0};  // generation and subject
  const void* m_code;
  const char* m_name;
  const char* m_file;
  std::uint32_t m_line;
};

// The code that a call of `function` runs: a function, or the call operator of a closure that has just one. nullptr
// where that cannot be told (overloaded, generic or virtual).
template <class function>
const void* code_of(const function& callable) noexcept;

// The same for all calls of one type of function, by their code: constant-initialised, so that asking has no guard.
template <class function>
class kind_of_call {
 public:
  static std::uint32_t subject(const function& callable) noexcept {
    const std::uint64_t cached = s_known.load(std::memory_order_relaxed);
    if (cached >> 32 == detail::generation.load(std::memory_order_relaxed)) [[likely]]
      return static_cast<std::uint32_t>(cached);
    return detail::find_subject(s_known, code_of(callable));
  }

 private:
  static inline constinit std::atomic<std::uint64_t> s_known{0};  // generation and subject
};

// Counts of one thread at profile level, by subject. Used by one thread at a time. `count_created` and `ran` cost about 2
// ns.
class tally {
 public:
  [[gnu::always_inline]] void count_created(std::uint32_t subject) noexcept {
    if (subject != 0) entry_of(subject).created += 1;
  }
  // True: time this one, and tell `took`.
  bool ran(std::uint32_t subject) noexcept {
    if (subject == 0) [[unlikely]]
      return false;
    m_ran += 1;
    entry& counted = entry_of(subject);
    return ++counted.ran >= counted.next_timed;
  }
  // False: `ran` would ask for its time, and nothing was counted. For calls that are to be inlined.
  [[gnu::always_inline]] bool ran_untimed(std::uint32_t subject) noexcept {
    entry& counted = entry_of(subject);
    if (counted.ran + 1 >= counted.next_timed) [[unlikely]]
      return false;
    counted.ran += 1;
    m_ran += 1;
    return true;
  }
  // is_inclusive: other tasks ran inside.
  void took(std::uint32_t subject, base::ticks ticks, bool is_inclusive) noexcept;
  void suspended(std::uint32_t subject) noexcept {
    if (subject != 0) entry_of(subject).suspended += 1;
  }
  // Tasks of all subjects that have begun here: the same before and after a task in which no other ran.
  std::uint64_t total() const noexcept { return m_ran; }
  // Tells the recorder what it does not know yet. For where the thread parks and where it ends.
  void flush() noexcept;

 private:
  static constexpr std::size_t subjects = 16;  // direct-mapped: what has the same place is told and makes room
  static constexpr std::uint32_t most_timed = 8;
  struct alignas(64) entry {
    std::uint32_t subject = 0;
    std::uint32_t timed = 0;
    std::uint64_t created = 0;
    std::uint64_t ran = 0;
    std::uint64_t next_timed = 1;
    std::uint64_t suspended = 0;
    base::ticks shortest = ~base::ticks{0};  // since the last look
    std::uint32_t distance = 1;              // between timed ones; the same for all that is told at a time
    std::uint16_t looks = 0;                 // at the distance, each after most_timed times
    std::uint8_t since_look = 0;
    bool is_inclusive = false;
    base::ticks ticks[most_timed] = {};
  };
  static_assert(sizeof(entry) == 128, "found by a shift, and counted in one cache line");
  entry& entry_of(std::uint32_t subject) noexcept {
    entry& counted = m_entries[subject % subjects];
    if (counted.subject != subject) [[unlikely]]
      replace(counted, subject);
    return counted;
  }
  void replace(entry& old, std::uint32_t subject) noexcept;
  void report(entry& batch) noexcept;
  static void adapt(entry& batch) noexcept;

  std::uint64_t m_ran = 0;
  entry m_entries[subjects];
};

// Of the calling thread, for threads that are no workers; told when the thread ends.
tally& tally_of_thread() noexcept;

// Trace level only, apart from task_resumed. A task of identity 0 is none.
// cause_task: the task that creates it; 0: the task that runs on this thread, if any.
std::uint64_t task_created(std::uint32_t subject, std::uint64_t cause_task = 0) noexcept;
// cause_task: the task that made it ready; 0: none.
void task_ready(std::uint32_t subject, std::uint64_t task, std::uint64_t cause_task = 0) noexcept;
void task_begin(std::uint32_t subject, std::uint64_t task) noexcept;
void task_end(std::uint32_t subject, std::uint64_t task) noexcept;
// It leaves this thread's stack. awaited: the task that it waits for, if it is one.
void task_suspended(std::uint32_t subject, std::uint64_t task, cause reason, std::uint64_t awaited = 0) noexcept;
// On whatever thread. ticks: how long it was, 0: not known. At profile level, too (task may be 0 there).
void task_resumed(std::uint32_t subject, std::uint64_t task, cause reason, base::ticks ticks = 0) noexcept;
// `successor` could not continue before `predecessor` gave it something. Called by the one that gives it, at that moment.
// predecessor 0: code outside of all tasks, or a parcel that this thread handles.
void edge(std::uint64_t predecessor, std::uint64_t successor, cause reason = cause::future) noexcept;
// What this thread lets go on waited for a time, and for no thread.
void this_thread_is_timer() noexcept;

// A parcel for locality `to` of a job: a call, whose task there will be of this subject, or what a task of this subject
// answers. Returns the parcel's number, which travels with it; 0: it is not traced.
std::uint64_t parcel_sent(std::uint32_t subject, std::uint32_t to) noexcept;
// They left the queue of their sender at `ticks`, in the message of that number to their locality. why: a leave_cause.
void parcels_left(std::span<const std::uint64_t> parcels, std::uint32_t why, std::uint64_t message,
                  base::ticks ticks) noexcept;
// The parcel of that number, from locality `from`, has become the task.
void parcel_received(std::uint32_t subject, std::uint64_t task, std::uint32_t from, std::uint64_t parcel) noexcept;
// While this exists, the calling thread handles that parcel: tasks that it makes ready or lets go on meanwhile received
// what they waited for with it, until the parcel has become a task itself. parcel 0: it is not traced. The thread may not
// change to another stack meanwhile.
class handled_parcel {
 public:
  handled_parcel(std::uint32_t from, std::uint64_t parcel) noexcept : m_is_traced(parcel != 0) {
    if (m_is_traced) [[unlikely]]
      begin(from, parcel);
  }
  ~handled_parcel() {
    if (m_is_traced) [[unlikely]]
      end();
  }
  handled_parcel(const handled_parcel&) = delete;
  handled_parcel& operator=(const handled_parcel&) = delete;

 private:
  static void begin(std::uint32_t from, std::uint64_t parcel) noexcept;
  static void end() noexcept;

  bool m_is_traced;
};

// A figure by path, such as "/threads{locality#0/worker-thread#1}/idle-rate"; 0: not recorded. Takes a lock.
std::uint32_t counter(const char* path, const char* unit, bool is_cumulative) noexcept;
void set(std::uint32_t counter, double value) noexcept;  // takes a short lock: for every few milliseconds

// Made, at either level: counts, or gives the identity.
[[gnu::always_inline]] inline std::uint64_t record_created(std::uint32_t subject, tally& counts) noexcept {
  if (traces()) return task_created(subject);
  counts.count_created(subject);
  return 0;
}

// One run of a task, from begin to end on one stack. At trace level, what suspends it in between tells so.
class run_guard {
 public:
  run_guard(std::uint32_t subject, std::uint64_t task, tally& counts) noexcept
      : m_counts(counts), m_task(task), m_subject(subject) {
    if (task != 0) {
      task_begin(subject, task);
    } else if (counts.ran(subject)) [[unlikely]] {
      m_total = counts.total();
      m_begin = base::now();
    }
  }
  ~run_guard() {
    if (m_task != 0)
      task_end(m_subject, m_task);
    else if (m_begin != 0) [[unlikely]]
      m_counts.took(m_subject, base::now() - m_begin, m_counts.total() != m_total);
  }
  run_guard(const run_guard&) = delete;
  run_guard& operator=(const run_guard&) = delete;

 private:
  tally& m_counts;
  base::ticks m_begin = 0;  // 0: not timed
  std::uint64_t m_total = 0;
  std::uint64_t m_task;
  std::uint32_t m_subject;
};

namespace detail {

template <class function>
concept one_call = requires { &function::operator(); };

}  // namespace detail

template <class function>
const void* code_of(const function& callable) noexcept {
  if constexpr (std::is_function_v<std::remove_pointer_t<function>>) {
    return reinterpret_cast<const void*>(+callable);
  } else if constexpr (detail::one_call<function>) {
    // A pointer to a member function begins with its address (Itanium C++ ABI); an odd one is of a virtual function.
    const auto call = &function::operator();
    std::uintptr_t address = 0;
    std::memcpy(&address, &call, sizeof address);
    return address % 2 == 0 ? reinterpret_cast<const void*>(address) : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace trimtab::tasks::recording

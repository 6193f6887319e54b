// A lane: what executes, with its event stream and its profile. Owned by the recorder, never freed while the
// process lives; written by one thread at a time; the hot functions take no lock, allocate nothing and make no
// system call. The lane of a thread is written by this thread. A thread that ends gives its lane back, and a later
// thread may take it over. A lane of another kind (a CPU, a server, an executor) is nobody's: a thread writes it
// while it holds a lane_writer.
#pragma once

#include <atomic>
#include <cstring>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/base/mapped_file.hpp"
#include "trimtab/observe/format.hpp"
#include "trimtab/observe/row_identity.hpp"

namespace trimtab::observe {

class recorder;

class alignas(64) lane {
 public:
  std::uint32_t id() const noexcept { return m_id; }
  bool is_open() const noexcept { return m_open.load(std::memory_order_acquire); }  // in use now
  lane_kind kind() const noexcept { return m_kind; }
  lane_header& header() noexcept { return *m_header; }
  recorder& owner() noexcept { return *m_owner; }

  // Appends one event. O(1); at profile level into the flight recorder's ring, at trace level into the stream.
  void record(event_kind kind, std::uint32_t subject, std::uint16_t arg, std::uint64_t a, std::uint64_t b,
              base::ticks at) noexcept {
    if (m_cursor == m_limit) [[unlikely]]
      if (!make_room()) return;
    *m_cursor++ = event{at, subject, static_cast<std::uint16_t>(kind), arg, a, b};
    // Release: whoever sees the count (another process, or after our death) sees the whole record.
    m_written += 1;
    std::atomic_ref<std::uint64_t>(m_events_header->written).store(m_written, std::memory_order_release);
  }

  // The event that was recorded last (another one, if that one was dropped).
  event* last_event() noexcept { return m_cursor - 1; }

  // The row of (subject, metric, about, in_region, flags), made at first use. nullptr when the profile is
  // full: counted as dropped. Cache it where you can: rows never move.
  profile_row* row(std::uint32_t subject, metric measure, std::uint32_t about_lane, std::uint32_t in_region,
                   std::uint16_t flags = 0) noexcept {
    const row_identity wanted(subject, measure, flags, about_lane, in_region);
    const std::uint64_t hash = wanted.hash();
    for (std::uint64_t i = hash;; ++i) {
      const index_entry& entry = m_index[i & m_index_mask];
      if (entry.row == nullptr) return add_row(hash, wanted);
      if (entry.hash == hash && wanted.is_of(*entry.row)) [[likely]]
        return entry.row;
    }
  }

  profile_row* own_row(std::uint32_t subject, metric measure, std::uint32_t in_region = no_subject,
                       std::uint16_t flags = 0) noexcept {
    return row(subject, measure, m_id, in_region, flags);
  }

  // Outermost regions that this lane has forked and that its rows tell of. By any thread, at any time.
  std::uint64_t outermost_regions() const noexcept;

  // Adds one timed occurrence. row may be nullptr.
  static void add(profile_row* row, std::uint64_t duration) noexcept {
    if (row == nullptr) [[unlikely]]
      return;
    row->timed += 1;
    row->sum += duration;
    if (duration < row->min) row->min = duration;
    if (duration > row->max) row->max = duration;
    row->histogram[bucket(duration)] += 1;
    row->count += 1;
  }

  // Adds one that was not timed.
  static void count(profile_row* row) noexcept { row->count += 1; }

  static unsigned bucket(std::uint64_t duration) noexcept {
    const unsigned width = duration == 0 ? 0u : 64u - static_cast<unsigned>(__builtin_clzll(duration));
    return width < histogram_buckets ? width : static_cast<unsigned>(histogram_buckets) - 1;
  }

  // Own cost: how often the program came through a hook of ours, and how often we read the clock.
  void count_hook(unsigned clock_reads) noexcept {
    m_header->hooks += 1;
    m_header->clock_reads += clock_reads;
  }

  // Program's own scopes (trimtab.h). Short subjects are timed by sampling at profile level.
  void scope_begin(std::uint32_t subject) noexcept;
  void scope_end(std::uint32_t subject) noexcept;

  // A task starts or ends on this lane; tasks nest (a task that waits may run others). Time of inner tasks is
  // taken out of the outer one's row. task_end leaves it to the caller which row the time goes to.
  struct task_time {
    bool is_known = false;
    base::ticks inclusive = 0;
    base::ticks own = 0;  // without inner tasks
  };
  // A task that leaves its thread in between has several parts. It counts once, with its first one.
  enum class task_part : std::uint8_t { first, later };
  // What a part took goes to this row; nullptr: to none.
  static void add_task(profile_row* row, const task_time& took, task_part part = task_part::first) noexcept;
  void task_begin(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept;
  task_time task_end(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept;
  // The same, and it goes to the subject's row. Returns the ticks that the task took, inner ones included.
  base::ticks task_ends(std::uint32_t subject, std::uint64_t task, base::ticks at) noexcept;
  // A task that no row and no event tells of: its time is taken out of the outer one's.
  void task_inside_begins(base::ticks at) noexcept;
  void task_inside_ends(base::ticks at) noexcept;
  // A task leaves this lane's stack, and goes on, there or on another lane. waited: 0: not known.
  void task_suspended(std::uint32_t subject, std::uint64_t task, wait_cause reason, std::uint64_t awaited,
                      base::ticks at) noexcept;
  void task_resumed(std::uint32_t subject, std::uint64_t task, wait_cause reason, base::ticks waited,
                    base::ticks at) noexcept;
  // The innermost task that runs here; 0: none, or not known.
  std::uint64_t task_here() const noexcept {
    return m_task_depth == 0 || m_task_depth > max_tasks ? 0 : m_tasks[m_task_depth - 1].task;
  }

  // Tasks that this lane only counted, and how long `timed` of them took.
  struct batch {
    std::uint64_t made = 0, ran = 0, suspended = 0;
    const base::ticks* ticks = nullptr;
    std::uint32_t timed = 0;
    bool is_inclusive = false;
  };
  void tasks_ran(std::uint32_t subject, const batch& tasks_done) noexcept;

  // This lane is worker `number` of the runtime that `subject` stands for, and runs tasks from now on.
  void worker_begins(std::uint32_t subject, std::uint32_t number, base::ticks at) noexcept;
  void worker_enters(worker_state next, base::ticks at) noexcept;
  void name(const char* title) noexcept;

  // For the runtime adapter that has claimed this lane: one pointer of its own, nullptr at first.
  void* adapter = nullptr;

 private:
  friend class recorder;

  friend class lane_writer;

  struct index_entry {
    std::uint64_t hash;
    profile_row* row;
  };
  struct open_scope {
    profile_row* row;
    base::ticks begin;  // 0: this one is not timed
    std::uint32_t subject;
  };
  struct open_task {
    std::uint64_t task;
    std::uint32_t subject;
    base::ticks begin;
    base::ticks inner;  // spent in tasks that ran inside it
  };
  // Scopes and their rows, at the place that the subject's lowest bits give.
  struct known_scope {
    profile_row* row;  // nullptr: the place is free
    std::uint32_t subject;
  };
  static constexpr std::uint32_t max_scopes = 64;
  static constexpr std::uint32_t max_known_scopes = 32;  // a power of two
  static constexpr std::uint32_t max_tasks = 256;        // deeper ones are counted, not timed

  profile_row* scope_row(std::uint32_t subject) noexcept;
  // Takes the innermost task off the stack.
  task_time end_part(base::ticks at) noexcept;
  bool make_room() noexcept;
  // What a reader needs of the events of the ring, all of which are about to be overwritten.
  void summarize_ring() noexcept;
  profile_row* add_row(std::uint64_t hash, const row_identity& identity) noexcept;
  bool grow_index() noexcept;
  bool grow_profile() noexcept;

  // Hot: one cache line.
  event* m_cursor = nullptr;
  event* m_limit = nullptr;
  std::uint64_t m_written = 0;
  file_header* m_events_header = nullptr;
  lane_header* m_header = nullptr;
  index_entry* m_index = nullptr;
  std::uint64_t m_index_mask = 0;
  recorder* m_owner = nullptr;

  std::uint32_t m_id = 0;
  lane_kind m_kind = lane_kind::thread;
  std::uint32_t m_part_depth = 0;  // parts of regions that were open when the ring was summarized
  std::uint32_t m_scope_depth = 0;
  std::uint32_t m_task_depth = 0;
  std::uint32_t m_index_used = 0;
  bool m_is_ring = true;
  bool m_is_profile_full = false;
  bool m_is_index_full = false;
  base::ticks m_thread_start = 0;
  profile_row* m_state_row = nullptr;  // of the worker's present state; nullptr: no worker
  worker_state m_state = worker_state::none;
  base::ticks m_state_since = 0;
  std::atomic<bool> m_open{false};
  std::atomic<bool> m_is_claimed{false};  // by a lane_writer
  // Events that the stream has room for; raised by the sampler thread, read by the owner when it runs out.
  std::atomic<std::uint64_t> m_ready{0};
  // By the sampler thread: events whose pages are there, of a stream, and how many there were when it last saw to that.
  std::uint64_t m_warm = 0;
  std::uint64_t m_warmed_at = 0;
  event* m_events = nullptr;
  file_header* m_profile_header = nullptr;
  base::mapped_file m_events_file;
  base::mapped_file m_profile_file;
  known_scope m_known_scopes[max_known_scopes] = {};
  open_scope m_scopes[max_scopes] = {};
  open_task m_tasks[max_tasks] = {};
};

// Writes a lane that is not a thread's: the calling thread, and no other, from the constructor to the destructor. Tests
// false if another thread holds the lane. Neither waits nor allocates. What one writer did happened before what the next
// one does. A forked child must ask the recorder for lanes anew (recorder::generation).
class lane_writer {
 public:
  explicit lane_writer(lane& target) noexcept
      : m_lane(target.m_is_claimed.exchange(true, std::memory_order_acquire) ? nullptr : &target) {}
  ~lane_writer() {
    if (m_lane != nullptr) m_lane->m_is_claimed.store(false, std::memory_order_release);  // pairs with the constructor
  }
  lane_writer(const lane_writer&) = delete;
  lane_writer& operator=(const lane_writer&) = delete;

  explicit operator bool() const noexcept { return m_lane != nullptr; }
  lane* operator->() const noexcept { return m_lane; }

 private:
  lane* const m_lane;
};

}  // namespace trimtab::observe

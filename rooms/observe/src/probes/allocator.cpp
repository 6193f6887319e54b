// Waits of threads for each other in malloc and free: for the lock of an arena, or for the kernel's map of the process's
// memory.
//
// The kernel counts exactly how long a thread is neither on a CPU nor ready to run. What it waits for is looked at now and
// then: /proc/TID/syscall has the call in which a blocked thread is, with the address it waits at. Of each thread's blocked
// time the share of the looks that saw it wait for malloc is malloc's. A count of looks alone would be wrong: our thread
// often gets a CPU just when another one begins to wait. But it does so for any reason to wait.
//
// The kernel's own time for waits, which may be longer than they are, is what it uses while a lock has waiters.
//
// A program whose threads do not wait pays a look at the lock of each arena, some nanoseconds.
#include "allocator.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "instances.hpp"
#include "trimtab/observe/cpu_usage.hpp"
#include "trimtab/observe/thread_times.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::observe {

namespace {

bool changes_memory_map(long call) noexcept {
  constexpr long page_fault = -1;  // blocked, but in no call
  switch (call) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_brk:
    case page_fault:
      return true;
    default:
      return false;
  }
}

}  // namespace

blocked_by read_blocked_by(const thread_call& call, const malloc_arenas& arenas) noexcept {
  if (call.state != thread_call::kind::blocked) return blocked_by::nothing;
  if (changes_memory_map(call.number)) return blocked_by::memory_map;
  const bool has_address = call.number == SYS_futex && call.argument_count > 0;
  return has_address && arenas.has_lock_at(call.arguments[0]) ? blocked_by::arena_lock : blocked_by::others;
}

void blocked_threads::watched_thread::count(blocked_by reason) noexcept {
  blocked_looks += reason == blocked_by::nothing ? 0 : 1;
  arena_looks += reason == blocked_by::arena_lock ? 1 : 0;
  map_looks += reason == blocked_by::memory_map ? 1 : 0;
}

// One that sleeps is seen blocked at each look. Waits of microseconds are seen rarely, however many there are.
bool blocked_threads::watched_thread::is_rarely_seen() const noexcept {
  constexpr double blocked_ns_of_look = 10e6;
  constexpr std::uint32_t enough_looks = 64;
  return tid != 0 && blocked_looks < enough_looks && blocked_ns > blocked_ns_of_look * (blocked_looks + 1);
}

double blocked_threads::watched_thread::part_of_blocked(std::uint32_t looks) const noexcept {
  return blocked_looks == 0 ? 0 : blocked_ns * looks / blocked_looks;
}

void blocked_threads::add(std::uint32_t tid, std::uint64_t now_ns, std::uint64_t ready_ns, blocked_by reason) noexcept {
  watched_thread* const thread = place_of(tid);
  if (thread == nullptr) return;
  thread->look = m_look;
  if (thread->looked_ns != 0 && ready_ns >= thread->ready_ns) {
    const double blocked_ns =
        static_cast<double>(now_ns - thread->looked_ns) - static_cast<double>(ready_ns - thread->ready_ns);
    thread->blocked_ns += blocked_ns > 0 ? blocked_ns : 0;
  }
  thread->looked_ns = now_ns;
  thread->ready_ns = ready_ns;
  thread->count(reason);
}

void blocked_threads::count_again(std::uint32_t tid, blocked_by reason) noexcept {
  for (watched_thread& thread : m_threads)
    if (thread.tid == tid) thread.count(reason);
}

std::uint32_t blocked_threads::next_rarely_seen() noexcept {
  for (std::size_t i = 0; i < most_threads; ++i) {
    m_turn = (m_turn + 1) % most_threads;
    if (m_threads[m_turn].is_rarely_seen()) return m_threads[m_turn].tid;
  }
  return 0;
}

void blocked_threads::end_look() noexcept {
  std::uint32_t waiting = 0;
  for (watched_thread& thread : m_threads) {
    if (thread.tid != 0 && thread.look != m_look) release(thread);
    waiting += thread.arena_looks != 0 ? 1 : 0;
  }
  if (waiting > m_gone.threads) m_gone.threads = waiting;
  ++m_look;
}

void blocked_threads::pause() noexcept {
  for (watched_thread& thread : m_threads)
    if (thread.tid != 0) release(thread);
}

allocator_waits blocked_threads::total() const noexcept {
  allocator_waits all = m_gone;
  for (const watched_thread& thread : m_threads) {
    all.arena_ns += thread.part_of_blocked(thread.arena_looks);
    all.map_ns += thread.part_of_blocked(thread.map_looks);
  }
  return all;
}

blocked_threads::watched_thread* blocked_threads::place_of(std::uint32_t tid) noexcept {
  watched_thread* unused = nullptr;
  for (watched_thread& thread : m_threads) {
    if (thread.tid == tid) return &thread;
    if (thread.tid == 0 && unused == nullptr) unused = &thread;
  }
  if (unused != nullptr) unused->tid = tid;
  return unused;
}

void blocked_threads::release(watched_thread& thread) noexcept {
  m_gone.arena_ns += thread.part_of_blocked(thread.arena_looks);
  m_gone.map_ns += thread.part_of_blocked(thread.map_looks);
  thread = {};
}

namespace {

class allocator_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    forget();
    m_arena_waits = to.add_counter(words::counter_name::arena_waits, "s", "/proc/TID/syscall", true);
    m_map_waits = to.add_counter(words::counter_name::memory_map_waits, "s", "/proc/TID/syscall", true);
    m_waiters = to.add_counter(words::counter_name::arena_waiters, "1", "/proc/TID/syscall", false);
    m_contended = to.add_counter(words::counter_name::contended_kernel_time, "s", "getrusage", true);
    m_arena_count = to.add_counter(words::counter_name::arenas, "1", "the C library's list", false);
    return true;
  }

  void after_fork() noexcept override { forget(); }

  void sample(recorder& to, base::ticks at) noexcept override {
    if (!are_arenas_found(most_searches)) return;
    const std::uint64_t now = base::monotonic_ns();
    if (has_reason()) m_last_reason_ns = now;
    if (m_last_reason_ns == 0 || now > m_last_reason_ns + longest_quiet_ns) return m_threads.pause();
    look(now);
    const allocator_waits all = m_threads.total();
    if (all.arena_ns + all.map_ns < m_reported_ns + least_change_ns) return;
    m_reported_ns = all.arena_ns + all.map_ns;
    to.sample(m_arena_waits, no_lane, all.arena_ns * 1e-9, at);
    to.sample(m_map_waits, no_lane, all.map_ns * 1e-9, at);
    to.sample(m_waiters, no_lane, all.threads, at);
    to.sample(m_contended, no_lane, static_cast<double>(m_contended_kernel_ns) * 1e-9, at);
    to.sample(m_arena_count, no_lane, m_list->count(), at);
  }

  void stop(recorder& to, base::ticks at) noexcept override {
    if (are_arenas_found(most_searches + 1)) return sample(to, at);
    to.unavailable("waits in malloc", "the allocator is not that of a GNU C library from 2.26 on, or was not used",
                   "none: other allocators are not looked at");
  }

 private:
  // Waits of microseconds are seen rarely, so that threads that have many are looked at several times.
  static constexpr std::uint64_t longest_again_ns = 100'000;
  static constexpr unsigned most_searches = 16;
  static constexpr std::uint64_t longest_quiet_ns = 1'000'000'000;
  static constexpr double least_change_ns = 1e6;   // of waits, to be worth a sample
  static constexpr double much_kernel_time = 0.1;  // of the CPU time

  // Before the first block is allocated, maybe in the first region, there are none. A search takes 0.1 ms.
  bool are_arenas_found(unsigned searches) noexcept {
    if (m_list == nullptr && m_searches < searches) {
      ++m_searches;
      m_arenas = malloc_arenas::find();
      m_list = m_arenas ? &*m_arenas : nullptr;
    }
    return m_list != nullptr;
  }

  void forget() noexcept {
    m_list = nullptr;
    m_arenas.reset();
    m_searches = 0;
    m_threads = {};
    m_reported_ns = 0;
    m_last_reason_ns = 0;
    m_used = usage_of_process();
    m_contended_kernel_ns = 0;
  }

  // Threads wait, or may wait because the kernel is busy for them.
  bool has_reason() noexcept {
    const cpu_usage used = usage_of_process(), since = used.since(m_used);
    m_used = used;
    const auto kernel = static_cast<double>(since.kernel_ns);
    const bool is_contended = m_list->is_contended();
    if (is_contended) m_contended_kernel_ns += since.kernel_ns;
    return is_contended || kernel > much_kernel_time * (kernel + static_cast<double>(since.program_ns));
  }

  void look(std::uint64_t now) noexcept {
    struct pass {
      allocator_probe* self;
      proc_threads threads;
      std::uint64_t now;
      std::uint32_t own_tid;
    } all{this, proc_threads(m_root), now, static_cast<std::uint32_t>(syscall(SYS_gettid))};
    for_each_thread(
        m_root,
        [](void* context, std::uint32_t tid) {
          const pass& current = *static_cast<pass*>(context);
          if (tid != current.own_tid) current.self->look_at(tid, current.threads, current.now);
        },
        &all);
    look_again(all.threads);
    m_threads.end_look();
  }

  void look_again(const proc_threads& threads) noexcept {
    const std::uint64_t until = base::monotonic_ns() + longest_again_ns;
    for (std::uint32_t tid; base::monotonic_ns() < until && (tid = m_threads.next_rarely_seen()) != 0;)
      if (const std::optional<thread_call> call = threads.call(tid); call)
        m_threads.count_again(tid, read_blocked_by(*call, *m_list));
  }

  void look_at(std::uint32_t tid, const proc_threads& threads, std::uint64_t now) noexcept {
    const std::optional<thread_call> call = threads.call(tid);
    if (!call) return;
    const blocked_by reason = read_blocked_by(*call, *m_list);
    if (const std::optional<thread_times> times = threads.times(tid); times)
      m_threads.add(tid, now, times->run_ns + times->run_delay_ns, reason);
  }

  const char* m_root = nullptr;
  std::optional<malloc_arenas> m_arenas;
  const malloc_arenas* m_list = nullptr;  // those, once they have been found
  blocked_threads m_threads;
  double m_reported_ns = 0;
  std::uint64_t m_last_reason_ns = 0;
  unsigned m_searches = 0;
  cpu_usage m_used;
  std::uint64_t m_contended_kernel_ns = 0;  // between two looks, if the second one saw a thread wait
  std::uint32_t m_arena_waits = 0, m_map_waits = 0, m_waiters = 0, m_arena_count = 0, m_contended = 0;
};

constinit allocator_probe the_probe;

}  // namespace

probe* allocator_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

// What the threads of a program without lanes do: std::thread, thread pools, other runtimes. Looks at them from time to
// time, at irregular times, so that no period of the program's own matters.
#include "thread_states.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <numeric>

#include "instances.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/observe/plain_threads.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::observe {

namespace {

thread_state state_of_descriptor(std::uint64_t number) noexcept {
  struct stat about{};
  const int saved = errno;
  const bool is_open = fstat(static_cast<int>(number), &about) == 0;
  errno = saved;
  if (!is_open) return thread_state::otherwise;
  if (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode) || S_ISDIR(about.st_mode)) return thread_state::for_files;
  return thread_state::for_messages;
}

bool is_one_of(long number, std::initializer_list<long> numbers) noexcept {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

bool waits_for_time(long call, const std::uint64_t* arguments) noexcept {
  if (is_one_of(call, {SYS_nanosleep, SYS_clock_nanosleep, SYS_rt_sigtimedwait, SYS_rt_sigsuspend})) return true;
#ifdef SYS_poll  // not on AArch64, nor those below
  if (call == SYS_pause) return true;
  if (call == SYS_poll) return arguments[1] == 0;
  if (call == SYS_select) return arguments[0] == 0;
#endif
  if (call == SYS_ppoll) return arguments[1] == 0;
  return call == SYS_pselect6 && arguments[0] == 0;
}

bool waits_for_messages(long call) noexcept {
#ifdef SYS_poll
  if (is_one_of(call, {SYS_poll, SYS_select, SYS_epoll_wait})) return true;
#endif
  return is_one_of(call, {SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_recvfrom, SYS_recvmsg,
                          SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_accept, SYS_accept4, SYS_connect});
}

bool is_of_a_descriptor(long call) noexcept {
  return is_one_of(call, {SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_preadv2, SYS_write, SYS_writev, SYS_pwrite64,
                          SYS_pwritev, SYS_pwritev2, SYS_splice, SYS_sendfile, SYS_copy_file_range});
}

bool waits_for_files(long call) noexcept {
#ifdef SYS_open
  if (is_one_of(call, {SYS_open, SYS_stat, SYS_lstat, SYS_rename, SYS_unlink, SYS_mkdir})) return true;
#endif
  return is_one_of(call, {SYS_openat,    SYS_newfstatat, SYS_statx,      SYS_fsync,           SYS_fdatasync,
                          SYS_sync,      SYS_syncfs,     SYS_msync,      SYS_sync_file_range, SYS_close,
                          SYS_ftruncate, SYS_fallocate,  SYS_getdents64, SYS_renameat,        SYS_renameat2,
                          SYS_unlinkat,  SYS_mkdirat,    SYS_flock,      SYS_io_getevents,    SYS_io_uring_enter});
}

bool waits_for_threads(long call) noexcept {
  constexpr long futex_of_several = 449;
  return call == SYS_futex || call == futex_of_several;
}

bool waits_for_programs(long call) noexcept {
#ifdef SYS_vfork
  if (call == SYS_vfork) return true;
#endif
  return is_one_of(call, {SYS_wait4, SYS_waitid, SYS_clone});
}

}  // namespace

thread_state state_of(const thread_call& call) noexcept {
  if (call.state == thread_call::kind::runs) return thread_state::runs;
  const long number = call.number;
  // A page that is not there, or the map of memory, is waited for in no call.
  if (call.state == thread_call::kind::not_told || number < 0) return thread_state::otherwise;
  if (number == SYS_sched_yield) return thread_state::runs;
  if (waits_for_threads(number)) return thread_state::for_threads;
  if (is_of_a_descriptor(number))
    return call.argument_count > 0 ? state_of_descriptor(call.arguments[0]) : thread_state::otherwise;
  if (waits_for_time(number, call.arguments)) return thread_state::for_time;
  if (waits_for_messages(number)) return thread_state::for_messages;
  if (waits_for_programs(number)) return thread_state::for_programs;
  return waits_for_files(number) ? thread_state::for_files : thread_state::otherwise;
}

idle_cpus idle_cpus_of(const state_counts& threads, double cpus) noexcept {
  idle_cpus result;
  const auto for_threads = static_cast<std::size_t>(thread_state::for_threads);
  const double running = threads[static_cast<std::size_t>(thread_state::runs)];
  state_counts blamed = threads;
  blamed[static_cast<std::size_t>(thread_state::runs)] = 0;
  const double waiting = std::accumulate(blamed.begin(), blamed.end(), 0.0);
  const double idle = std::max(cpus - running, 0.0);
  result.no_thread = std::max(idle - waiting, 0.0);
  // If no thread runs, those that wait for threads wait for one that waits for something else.
  if (running == 0 && waiting > blamed[for_threads]) blamed[for_threads] = 0;
  const double all = std::accumulate(blamed.begin(), blamed.end(), 0.0);
  for (std::size_t i = 0; i < thread_states && all > 0; ++i) result.waiting[i] = (idle - result.no_thread) * blamed[i] / all;
  return result;
}

namespace {

constexpr unsigned most_skipped = 3;       // ticks between two looks, at random
constexpr std::uint32_t write_every = 16;  // looks

class thread_states_probe final : public probe {
 public:
  bool start(recorder&, const char* root) noexcept override {
    m_root = root;
    m_last_ns = base::monotonic_ns();
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    // Lanes say themselves what they do, and the first thread alone is known by its CPU time.
    if (plain_threads::count() == 0 || to.lanes() > 0 || m_is_refused) return;
    if (m_skip > 0) {
      --m_skip;
      return;
    }
    m_random = m_random * 1664525u + 1013904223u;
    m_skip = (m_random >> 16) % (most_skipped + 1);
    if (m_look == 0 && !begin(to)) return;
    look();
    if (m_look % write_every == 0) write(to, at);
  }

  void stop(recorder& to, base::ticks at) noexcept override {
    if (m_look > 0) write(to, at);
  }

  void after_fork() noexcept override {
    m_is_refused = false;
    m_look = 0;
    m_skip = 0;
    std::fill_n(m_idle_s, thread_states, 0.0);
  }

 private:
  // In the order of thread_state; the first is what no thread could have used.
  static constexpr const char* idle_names[thread_states] = {
      words::counter_name::idle_no_thread,    words::counter_name::idle_for_threads,  words::counter_name::idle_for_files,
      words::counter_name::idle_for_messages, words::counter_name::idle_for_programs, words::counter_name::idle_for_time,
      words::counter_name::idle_otherwise,
  };

  // At the first look, and not at the start: most programs that are recorded have lanes.
  bool begin(recorder& to) noexcept {
    if (!proc_threads(m_root).call(static_cast<std::uint32_t>(syscall(SYS_gettid)))) {
      m_is_refused = true;
      to.unavailable(
          "what threads outside of parallel regions wait for", "/proc/TID/syscall cannot be read",
          "use a kernel with CONFIG_HAVE_ARCH_TRACEHOOK and the /proc of the process's own pid namespace, outside of "
          "sandboxes that hide it");
      return false;
    }
    m_cpus = to.process().cpus_available;
    m_delay = to.add_counter(words::counter_name::ended_threads_delay, "s", "schedstat of threads that ended", true);
    m_looks = to.add_counter(words::counter_name::looks_at_threads, "1", "syscall of each thread", true);
    for (std::size_t i = 0; i < thread_states; ++i)
      m_idle[i] = to.add_counter(idle_names[i], "s", "syscall of each thread", true);
    return true;
  }

  void look() noexcept {
    const std::uint64_t now_ns = base::monotonic_ns();
    const double seconds = static_cast<double>(now_ns - m_last_ns) * 1e-9;
    const proc_threads threads(m_root);
    state_counts counts{};
    const auto count = [&](std::uint32_t tid) noexcept {
      if (const auto call = threads.call(tid); call) ++counts[static_cast<std::size_t>(state_of(*call))];
    };
    count(static_cast<std::uint32_t>(getpid()));
    plain_threads::for_each(count);
    m_last_ns = now_ns;
    const idle_cpus idle = idle_cpus_of(counts, m_cpus);
    m_idle_s[0] += seconds * idle.no_thread;
    for (std::size_t i = 1; i < thread_states; ++i) m_idle_s[i] += seconds * idle.waiting[i];
    ++m_look;
  }

  void write(recorder& to, base::ticks at) noexcept {
    to.sample(m_delay, no_lane, static_cast<double>(plain_threads::ended_delay_ns()) * 1e-9, at);
    to.sample(m_looks, no_lane, static_cast<double>(m_look), at);
    for (std::size_t i = 0; i < thread_states; ++i) to.sample(m_idle[i], no_lane, m_idle_s[i], at);
  }

  const char* m_root = nullptr;
  bool m_is_refused = false;
  double m_cpus = 1;
  std::uint32_t m_delay = 0, m_looks = 0, m_idle[thread_states] = {};
  std::uint32_t m_look = 0, m_random = 1;
  unsigned m_skip = 0;
  std::uint64_t m_last_ns = 0;
  double m_idle_s[thread_states] = {};
};

constinit thread_states_probe the_probe;

}  // namespace

probe* thread_states_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

// The sampler thread: heartbeat, room for the streams, probes. It is the only thread of ours in the program.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "probes/instances.hpp"
#include "trimtab/base/background.hpp"
#include "trimtab/base/own_threads.hpp"
#include "trimtab/base/signals_held.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/observe/probe.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t stack_bytes = 128 * 1024;
// Streams must be kept ahead of their lanes.
constexpr std::uint64_t streams_ns = 5'000'000;
constexpr std::uint64_t slow_streams_ns = 10'000'000;
// Also where threads lack CPUs: who makes room for a tick then is waited for by a whole team, whose members may lose their
// CPUs to others meanwhile, for a slice of the scheduler's. That is 40 times what the tick takes.
constexpr std::uint32_t longest_period_ms = 250;
// Of one CPU. Half for the ticks themselves, half for the probes, shared evenly among them.
constexpr double most_own_share = 0.002;
constexpr std::uint64_t longest_stop_ns = 50'000'000;
// A thread that has been woken is gone after some 0.1 ms, unless the machine is crowded.
constexpr std::uint64_t longest_end_ns = 2'000'000'000;
// Of a process with threads and without lanes, before anything is sampled.
constexpr auto least_life_ns = static_cast<std::uint64_t>(recorder::short_life_ns);
constexpr unsigned max_probes = 16;
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint32_t usual_period_ms = sampler_options{}.period_ms;

struct active_probe {
  probe* what;
  std::uint64_t period_ns;
  std::uint64_t next_ns;
  double cost_ns;  // CPU time of one sample, smoothed
  double share;    // of one CPU; 0: an equal part of what all share
};

struct sampler_state {
  sampler_options options;
  char probes[256] = {};  // the list, copied: it came from the environment, which is the program's to change
  base::cpu_mask cpus;    // where the program may run: the thread must not stay on the CPU of a bound lane
  active_probe active[max_probes] = {};
  // Raised once the probes have started; under start_lock.
  unsigned active_count = 0;
  std::atomic<bool> is_started{false};
  std::atomic<bool> is_thread_wanted{false};
  std::atomic<bool> is_stopping{false};
  // A thread of an older generation ends by itself (a child of fork has none of its own to end). Also the word that the
  // thread sleeps on: who changes it may wake the thread.
  std::atomic<std::uint32_t> generation{0};
  std::uint32_t generation_made = 0;  // of the thread, when it was made
  std::atomic<int> tid{0};            // of the thread; 0: there is none, or it has not begun
  std::atomic<bool> is_thread_made{false};
  base::spin_lock start_lock;
  base::spin_lock tick_lock;  // held by whoever calls sample, stop, heartbeat or make_streams_ready
};
constinit sampler_state state;

bool is_in_list(const char* list, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (const char* at = list; *at != '\0';) {
    const char* const end = strchrnul(at, ',');
    const char* const word = *at == '+' ? at + 1 : at;
    if (static_cast<std::size_t>(end - word) == length && std::strncmp(word, name, length) == 0) return true;
    at = *end == '\0' ? end : end + 1;
  }
  return false;
}

bool is_wanted(const probe_row& row) noexcept {
  const char* const list = state.options.probes;
  if (list == nullptr) return row.is_default;
  return is_in_list(list, row.name) || (row.is_default && list[0] == '+');
}

void tell_of_unknown_names(recorder& to) noexcept {
  const char* const list = state.options.probes;
  for (const char* at = list == nullptr ? "" : list; *at != '\0';) {
    const char* const end = strchrnul(at, ',');
    const char* const begin = *at == '+' ? at + 1 : at;
    char word[64] = {};
    const auto length = static_cast<std::size_t>(end - begin);
    std::memcpy(word, begin, length < sizeof word ? length : sizeof word - 1);
    bool has_word = length == 0 || std::strcmp(word, "none") == 0;
    for (const probe_row* row = probe_table; row->name != nullptr && !has_word; ++row)
      has_word = std::strcmp(row->name, word) == 0;
    if (!has_word) to.unavailable(word, "there is no probe of this name", "see trimtab run --help for the names");
    at = *end == '\0' ? end : end + 1;
  }
}

void start_probes(recorder& to) noexcept {
  to.read_limits();
  tell_of_unknown_names(to);
  unsigned count = 0;
  for (const probe_row* row = probe_table; row->name != nullptr && count < max_probes; ++row) {
    if (!is_wanted(*row)) continue;
    probe* const instance = row->instance();
    // A sampler asked to be faster or slower takes its probes along.
    const std::uint64_t period = row->period_ms * ns_per_ms * state.options.period_ms / usual_period_ms;
    // What it reads to start need not be read again at once.
    if (instance->start(to, ""))
      state.active[count++] = {instance, period, base::monotonic_ns() + period, 0, row->own_share};
  }
  state.active_count = count;
}

// True for the caller that started them.
bool start_probes_once(recorder& to) noexcept {
  state.start_lock.lock();
  const bool is_first = !state.is_started && !state.is_stopping.load(std::memory_order_relaxed);
  if (is_first) {
    state.is_started = true;
    start_probes(to);
  }
  state.start_lock.unlock();
  return is_first;
}

std::uint64_t own_cpu_ns() noexcept { return base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

static_assert(sizeof state.generation == sizeof(int), "the kernel looks at an int");

// Until the time is over, or the generation is another.
void sleep_ns(std::uint64_t ns, std::uint32_t generation) noexcept {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
  syscall(SYS_futex, &state.generation, FUTEX_WAIT_PRIVATE, generation, &time, nullptr, 0);
}

bool is_alive(int tid) noexcept { return syscall(SYS_tgkill, getpid(), tid, 0) == 0; }

// The thread of the sampler, if there is one, has ended when this returns true: it makes no more system calls.
bool end_thread() noexcept {
  if (!state.is_thread_made.load(std::memory_order_acquire)) return true;
  state.generation.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &state.generation, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  const std::uint64_t deadline = base::monotonic_ns() + longest_end_ns;
  for (;;) {
    const int tid = state.tid.load(std::memory_order_acquire);
    if (tid != 0 && !is_alive(tid)) break;
    if (base::monotonic_ns() > deadline) return false;
    sched_yield();
  }
  state.tid.store(0, std::memory_order_relaxed);
  state.is_thread_made.store(false, std::memory_order_relaxed);
  return true;
}

// The probes that are due. An expensive one comes more rarely, so that each keeps to its part of the share.
// Returns the CPU time that they took.
double sample_due(recorder& to, base::ticks at, std::uint64_t mono) noexcept {
  double all = 0;
  for (unsigned i = 0; i < state.active_count; ++i) {
    active_probe& active_entry = state.active[i];
    if (mono < active_entry.next_ns) continue;
    const std::uint64_t begin = own_cpu_ns();
    active_entry.what->sample(to, at);
    const auto cost = static_cast<double>(own_cpu_ns() - begin);
    active_entry.cost_ns = active_entry.cost_ns == 0 ? cost : 0.75 * active_entry.cost_ns + 0.25 * cost;
    const double share = active_entry.share > 0 ? active_entry.share : most_own_share / 2 / state.active_count;
    const auto affordable = static_cast<std::uint64_t>(active_entry.cost_ns / share);
    active_entry.next_ns = mono + (affordable > active_entry.period_ns ? affordable : active_entry.period_ns);
    all += cost;
  }
  return all;
}

// Period of the ticks for the next time: cost is the CPU time of one, waking up included, without probes.
std::uint64_t next_period(std::uint64_t shortest, double cost_ns) noexcept {
  const std::uint64_t longest = longest_period_ms * ns_per_ms > shortest ? longest_period_ms * ns_per_ms : shortest;
  if (do_threads_lack_cpus()) return longest;
  const auto affordable = static_cast<std::uint64_t>(cost_ns > 0 ? cost_ns / (most_own_share / 2) : 0);
  const std::uint64_t period = affordable > shortest ? affordable : shortest;
  return period < longest ? period : longest;
}

void* run(void* argument) noexcept {
  auto& to = *static_cast<recorder*>(argument);
  const std::uint32_t own_generation = state.generation_made;
  state.tid.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_release);
  prctl(PR_SET_NAME, "trimtab");
  // Of a program without lanes: short ones are spared the files of probes.
  if (!state.is_started) sleep_ns(least_life_ns, own_generation);
  bool is_placed = false;
  double cost = 0;
  std::uint64_t spent = own_cpu_ns(), due = 0;  // the next heartbeat
  for (std::uint64_t period = ns_per_ms;; sleep_ns(period, own_generation)) {
    // Before the lock, not after: from the moment that the end has begun `to` may be gone.
    if (state.is_stopping.load(std::memory_order_acquire) ||
        state.generation.load(std::memory_order_acquire) != own_generation)
      return nullptr;
    if (!state.tick_lock.try_lock()) continue;  // it is being flushed, or stopped
    start_probes_once(to);
    if (!is_placed) {
      sched_setaffinity(0, sizeof state.cpus.bits, reinterpret_cast<const cpu_set_t*>(state.cpus.bits));
      // Unless there are streams, which must be kept ahead of their lanes.
      if (!to.traces()) base::stay_in_background();
      is_placed = true;
    }
    const base::ticks at = base::now();
    const std::uint64_t mono = base::monotonic_ns();
    const bool are_slow = to.make_streams_ready();
    if (mono >= due) {
      to.heartbeat(at);
      if (state.options.ticked != nullptr) state.options.ticked();
      const double probes = sample_due(to, at, mono);
      const double last = static_cast<double>(own_cpu_ns() - spent) - probes;
      cost = cost == 0 ? last : 0.75 * cost + 0.25 * last;
      due = mono + next_period(state.options.period_ms * ns_per_ms, cost);
    }
    spent = own_cpu_ns();
    std::atomic_ref(to.process().sampler_cpu_ns).store(spent, std::memory_order_relaxed);
    period = due - mono;
    // Room for the streams cannot wait; the rest keeps to its share.
    const std::uint64_t streams = are_slow ? slow_streams_ns : streams_ns;
    if (to.traces() && period > streams) period = streams;
    state.tick_lock.unlock();
  }
}

void start_thread(recorder& to) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  const base::signals_held held;  // every signal of the process stays the program's: the thread inherits a full mask
  const base::own_thread_made marked;
  pthread_t created;
  state.generation_made = state.generation.load(std::memory_order_relaxed);
  int error = pthread_create(&created, &attributes, run, &to);
  if (error == EINVAL) {
    // The program's thread-local variables are taken out of each stack, and did not fit.
    pthread_attr_destroy(&attributes);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&created, &attributes, run, &to);
  }
  state.is_thread_made.store(error == 0, std::memory_order_release);
  if (error != 0)
    to.unavailable("figures over time", "no further thread could be made", "raise the limit on processes (ulimit -u)");
  pthread_attr_destroy(&attributes);
}

// Or, if it is there and waits to see whether the process is a short one, wakes it.
void start_thread_once(recorder& to) noexcept {
  if (!state.is_thread_wanted.exchange(true, std::memory_order_acq_rel)) return start_thread(to);
  syscall(SYS_futex, &state.generation, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Takes tick_lock, but does not wait for it forever: the sampler may be starved or gone.
bool lock_ticks() noexcept {
  const std::uint64_t deadline = base::monotonic_ns() + longest_stop_ns;
  while (!state.tick_lock.try_lock()) {
    if (base::monotonic_ns() > deadline) return false;
    sched_yield();
  }
  return true;
}

// What no lane has asked for yet: a program without lanes still gets what was counted from its begin.
void start_without_lanes(recorder& to) noexcept {
  const base::ticks at = base::now();
  const bool is_short = !state.is_thread_wanted.load(std::memory_order_relaxed) && to.is_short(at);
  for (const probe_row* row = probe_table; row->name != nullptr; ++row) {
    if (!row->counts_from_begin || !is_wanted(*row)) continue;
    probe& counting = *row->instance();
    if (is_short)
      counting.count_short(to, at);
    else if (counting.start(to, ""))
      counting.stop(to, base::now());
  }
}

void last_samples(recorder& to) noexcept {
  const base::ticks at = base::now();
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i].what->stop(to, at);
}

}  // namespace

void sampler_configure(const sampler_options& options) noexcept {
  state.options = options;
  if (options.probes != nullptr) {
    std::strncpy(state.probes, options.probes, sizeof state.probes - 1);
    state.options.probes = state.probes;
  }
  state.cpus = base::allowed_cpus();
  for (const probe_row* row = probe_table; row->name != nullptr; ++row)
    if (is_wanted(*row)) row->instance()->attached();
}

void sampler_lane_opened(recorder& to, lane& opened) noexcept {
  if (!base::may_call_system()) return;
  const base::signals_held held;
  const bool is_first = start_probes_once(to);
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i].what->lane_opened(to, opened);
  if (is_first) start_thread_once(to);
}

void sampler_thread_made(recorder& to) noexcept {
  if (state.is_thread_wanted.load(std::memory_order_relaxed) || !base::may_call_system()) return;
  const int saved = errno;
  const base::signals_held held;
  start_thread_once(to);
  errno = saved;
}

void sampler_lane_closed(recorder& to, lane& opened) noexcept {
  if (!base::may_call_system()) return;
  const base::signals_held held;
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i].what->lane_closed(to, opened);
}

void sampler_stop(recorder& to) noexcept {
  if (state.is_stopping.exchange(true) || !base::may_call_system()) return;
  const int saved = errno;
  const base::signals_held held;
  // The thread may sleep for a whole period, and is not worth waiting for: what it would do is done here. The
  // lock is kept, so that a thread that wakes now does not sample a process that is going.
  if (lock_ticks()) {
    state.start_lock.lock();  // a lane may be the first just now
    if (state.is_started)
      last_samples(to);
    else
      start_without_lanes(to);
    state.start_lock.unlock();
  }
  errno = saved;
}

void sampler_flush(recorder& to) noexcept {
  if (state.is_stopping.load(std::memory_order_acquire) || !state.is_started || !base::may_call_system()) return;
  const int saved = errno;
  const base::signals_held held;
  if (lock_ticks()) {
    last_samples(to);
    to.heartbeat(base::now());
    state.tick_lock.unlock();
  }
  errno = saved;
}

bool sampler_end_thread() noexcept {
  const int saved = errno;
  const bool has_ended = end_thread();
  errno = saved;
  return has_ended;
}

void sampler_start_thread_again(recorder& to) noexcept {
  const int saved = errno;
  state.start_lock.lock();
  if (state.is_thread_wanted && !state.is_thread_made.load(std::memory_order_relaxed)) start_thread(to);
  state.start_lock.unlock();
  errno = saved;
}

void sampler_after_fork() noexcept {
  state.generation.fetch_add(1, std::memory_order_release);
  state.tid.store(0, std::memory_order_relaxed);
  state.is_thread_made.store(false, std::memory_order_relaxed);
  for (const probe_row* row = probe_table; row->name != nullptr; ++row)
    if (is_wanted(*row)) row->instance()->after_fork();
  state.is_started = false;
  state.is_thread_wanted = false;
  state.active_count = 0;
  state.is_stopping = false;
  state.start_lock.reset();
  state.tick_lock.reset();
}

}  // namespace trimtab::observe

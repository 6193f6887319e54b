// The sampler thread: heartbeat, room for the streams, probes. It is the only thread of ours in the program.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "trimtab/observe/probe.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t stack_bytes = 128 * 1024;
constexpr std::uint32_t trace_period_ms = 5;       // streams must be kept ahead of their lanes
constexpr std::uint32_t probe_period_ms = 20;      // figures of the system need no more
constexpr double most_own_share = 0.002;           // of one CPU; the period stretches to keep it
constexpr std::uint32_t longest_period_ms = 1000;
constexpr std::uint64_t longest_stop_ns = 50'000'000;
constexpr unsigned max_probes = 16;

struct sampler_state {
  sampler_options options;
  probe* active[max_probes] = {};
  unsigned active_count = 0;
  bool is_started = false;       // under start_lock
  std::atomic<bool> is_stopping{false};
  base::spin_lock start_lock;
  base::spin_lock probe_lock;    // probes are called by the thread, and at the end by the one that stops it
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

void choose_probes(recorder& to) noexcept {
  const char* const list = state.options.probes;
  const bool is_added = list != nullptr && list[0] == '+';
  for (const probe_row* row = probe_table; row->name != nullptr && state.active_count < max_probes; ++row) {
    const bool is_named = list != nullptr && is_in_list(list, row->name);
    const bool is_wanted = is_named || (row->is_default && (list == nullptr || is_added));
    if (!is_wanted) continue;
    probe* const one = row->instance();
    if (one->start(to)) state.active[state.active_count++] = one;
  }
}

std::uint64_t own_cpu_ns() noexcept { return base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

void sample_all(recorder& to, base::ticks at) noexcept {
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i]->sample(to, at);
}

void sleep_ms(std::uint32_t ms) noexcept {
  const timespec time{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
  nanosleep(&time, nullptr);
}

void* run(void* argument) noexcept {
  auto& to = *static_cast<recorder*>(argument);
  prctl(PR_SET_NAME, "trimtab");
  const std::uint64_t began = base::monotonic_ns();
  const std::uint32_t shortest = to.traces() ? trace_period_ms : state.options.period_ms;
  std::uint32_t period = shortest;
  std::uint64_t next_probes = 0;
  while (!state.is_stopping.load(std::memory_order_acquire)) {
    const base::ticks at = base::now();
    const std::uint64_t mono = base::monotonic_ns();
    to.make_streams_ready();
    to.heartbeat(at);
    if (mono >= next_probes && state.probe_lock.try_lock()) {
      sample_all(to, at);
      state.probe_lock.unlock();
      next_probes = mono + std::uint64_t{period > probe_period_ms ? period : probe_period_ms} * 1'000'000u;
    }
    const std::uint64_t cpu = own_cpu_ns();
    to.process().sampler_cpu_ns = cpu;
    const double share = static_cast<double>(cpu) / static_cast<double>(mono - began + std::uint64_t{shortest} * 1'000'000u);
    if (share > most_own_share && period < longest_period_ms && !to.traces()) period = period * 2;
    else if (share < most_own_share / 2 && period > shortest) period = period / 2 < shortest ? shortest : period / 2;
    sleep_ms(period);
  }
  return nullptr;
}

void start_thread(recorder& to) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Every signal of the process stays the program's: the thread inherits a full mask.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t made;
  if (pthread_create(&made, &attributes, run, &to) != 0)
    to.unavailable("figures over time", "no further thread could be made", "raise the limit on processes (ulimit -u)");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

void sampler_configure(const sampler_options& options) noexcept { state.options = options; }

void sampler_lane_opened(recorder& to, lane& which) noexcept {
  state.start_lock.lock();
  const bool is_first = !state.is_started && !state.is_stopping.load(std::memory_order_relaxed);
  if (is_first) {
    state.is_started = true;
    choose_probes(to);
  }
  state.start_lock.unlock();
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i]->lane_opened(to, which);
  if (is_first) start_thread(to);
}

void sampler_lane_closed(recorder& to, lane& which) noexcept {
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i]->lane_closed(to, which);
}

void sampler_stop(recorder& to) noexcept {
  if (!state.is_started || state.is_stopping.exchange(true)) return;
  const int saved = errno;
  const base::ticks at = base::now();
  // The thread may sleep for a whole period, and is not worth waiting for: what it would do is done here.
  const std::uint64_t give_up = base::monotonic_ns() + longest_stop_ns;
  while (!state.probe_lock.try_lock()) {
    if (base::monotonic_ns() > give_up) {
      errno = saved;
      return;
    }
    sched_yield();
  }
  for (unsigned i = 0; i < state.active_count; ++i) state.active[i]->stop(to, at);
  // Not unlocked: a thread that wakes now must not sample a process that is going.
  errno = saved;
}

void sampler_after_fork() noexcept {
  state.is_started = false;
  state.active_count = 0;
  state.is_stopping = false;
  state.start_lock.reset();
  state.probe_lock.reset();
}

}  // namespace trimtab::observe

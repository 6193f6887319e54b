#include "trimtab/observe/plain_threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/thread_times.hpp"

namespace trimtab::observe::plain_threads {

namespace {

// Reading how long a thread waited takes as long as making one.
constexpr std::uint64_t least_life_ns = 1'000'000;

struct place_of_thread {
  std::atomic<std::uint32_t> tid{0};  // 0: free
  std::uint64_t begin_ns = 0;
};
constinit place_of_thread table[max_threads] = {};
constinit std::atomic<std::size_t> used{0};  // places that were ever taken
constinit std::atomic<std::size_t> present{0};
constinit std::atomic<std::uint64_t> ended_ns{0};

bool take(std::size_t place, std::uint32_t tid) noexcept {
  std::uint32_t free = 0;
  if (table[place].tid.load(std::memory_order_relaxed) != 0) return false;
  return table[place].tid.compare_exchange_strong(free, tid, std::memory_order_relaxed);
}

void raise_to(std::size_t count) noexcept {
  std::size_t before = used.load(std::memory_order_relaxed);
  while (before < count && !used.compare_exchange_weak(before, count, std::memory_order_release)) {
  }
}

}  // namespace

std::size_t begin() noexcept {
  const base::system_call_section section;
  if (!section.is_permitted()) return max_threads;
  const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  for (std::size_t i = 0; i < max_threads; ++i) {
    if (!take(i, tid)) continue;
    table[i].begin_ns = base::monotonic_ns();
    raise_to(i + 1);
    present.fetch_add(1, std::memory_order_relaxed);
    return i;
  }
  return max_threads;
}

void end(std::size_t place) noexcept {
  const base::system_call_section section;
  if (place >= max_threads || !section.is_permitted()) return;
  place_of_thread& place_entry = table[place];
  const std::uint32_t tid = place_entry.tid.load(std::memory_order_relaxed);
  if (tid != static_cast<std::uint32_t>(syscall(SYS_gettid))) return;  // of the parent, before a fork
  if (base::monotonic_ns() - place_entry.begin_ns >= least_life_ns)
    if (const auto times = proc_threads("").times(tid); times)
      ended_ns.fetch_add(times->run_delay_ns, std::memory_order_relaxed);
  present.fetch_sub(1, std::memory_order_relaxed);
  place_entry.tid.store(0, std::memory_order_relaxed);
}

std::size_t count() noexcept { return present.load(std::memory_order_relaxed); }

std::uint64_t ended_delay_ns() noexcept { return ended_ns.load(std::memory_order_relaxed); }

void after_fork() noexcept {
  for (std::size_t i = 0, n = detail::places(); i < n; ++i) table[i].tid.store(0, std::memory_order_relaxed);
  used.store(0, std::memory_order_relaxed);
  present.store(0, std::memory_order_relaxed);
  ended_ns.store(0, std::memory_order_relaxed);
}

namespace detail {

std::uint32_t tid_at(std::size_t place) noexcept { return table[place].tid.load(std::memory_order_relaxed); }

std::size_t places() noexcept { return used.load(std::memory_order_acquire); }

}  // namespace detail

}  // namespace trimtab::observe::plain_threads

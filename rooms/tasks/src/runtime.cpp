#include "trimtab/tasks/runtime.hpp"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "trimtab/base/hash.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::tasks {

constinit thread_local worker* worker::t_current = nullptr;

namespace {

// Forks deeper than this run in place: 4 MiB of frames a worker, of which only what was used is ever touched.
constexpr std::uint32_t frames_per_worker = 1u << 16;

// How long an idle worker looks for work before it sleeps: longer than a wake-up takes, shorter than anyone notices.
constexpr int looks_before_sleep = 2000;

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

worker::worker(runtime& owner, std::uint32_t number)
    : m_stack(frames_per_worker), m_owner(owner), m_number(number), m_random(base::mix(number + 1)) {}

worker_counts worker::counts() const noexcept {
  return {m_forked.load(std::memory_order_relaxed), m_stolen.load(std::memory_order_relaxed),
          m_parked.load(std::memory_order_relaxed)};
}

void worker::offered() noexcept { m_owner.m_events.wake_one(); }

// One look at every other worker, from a random one on.
bool worker::run_stolen() noexcept {
  const auto& all = m_owner.m_workers;
  const std::size_t count_of_workers = all.size();
  m_random = base::mix(m_random);
  for (std::size_t i = 0; i < count_of_workers; ++i) {
    worker& victim = *all[(m_random + i) % count_of_workers];
    if (&victim == this) continue;
    fork_frame* const frame = victim.m_stack.steal();
    if (frame == nullptr) {
      victim.m_stack.ask();
      continue;
    }
    // There may be more where this came from, and more who sleep.
    if (victim.m_stack.is_offering()) m_owner.m_events.wake_one();
    count(m_stolen);
    frame->run(frame->closure);
    if (frame->state.exchange(fork_frame::done, std::memory_order_seq_cst) == fork_frame::awaited)
      m_owner.m_events.wake_all();
    return true;
  }
  return false;
}

// Looks for work, then sleeps until there may be some. is_ready: told to stop looking.
template <class ready>
void worker::idle(ready is_ready) noexcept {
  for (int look = 0; look < looks_before_sleep; ++look) {
    if (is_ready()) return;
    if (run_stolen()) return;
    pause();
  }
  event_count& events = m_owner.m_events;
  const std::uint32_t key = events.prepare();
  const auto has_work = [&] {
    return std::any_of(m_owner.m_workers.begin(), m_owner.m_workers.end(),
                       [&](const auto& each) { return each.get() != this && each->m_stack.is_offering(); });
  };
  // Owners that have something of their own are asked once more: they offer it at their next fork.
  for (const auto& each : m_owner.m_workers)
    if (each.get() != this) each->m_stack.ask();
  if (is_ready() || has_work()) return events.cancel();
  count(m_parked);
  events.wait(key);
}

void worker::wait_for(fork_frame& stolen) noexcept {
  while (!stolen.is_done())
    idle([&] {
      if (stolen.is_done()) return true;
      std::uint32_t expected = fork_frame::open;
      stolen.state.compare_exchange_strong(expected, fork_frame::awaited, std::memory_order_seq_cst);
      return expected == fork_frame::done;
    });
  m_stack.pop_stolen();
}

void worker::work() noexcept {
  t_current = this;
  runtime& owner = m_owner;
  std::function<void()> task;
  const auto is_needed = [&] {
    return owner.m_submitted_count.load(std::memory_order_seq_cst) > 0 || owner.m_is_ending.load(std::memory_order_seq_cst);
  };
  for (;;) {
    if (owner.take_submitted(task)) {
      task();
      task = nullptr;
      continue;
    }
    if (owner.m_is_ending.load(std::memory_order_seq_cst)) break;
    idle(is_needed);
  }
  t_current = nullptr;
}

runtime::runtime(const runtime_options& options) {
  const std::uint32_t available = static_cast<std::uint32_t>(std::max(1.0, std::ceil(base::read_cpu_limits().available)));
  const std::uint32_t count = options.workers == 0 ? available : options.workers;
  for (std::uint32_t i = 0; i < count; ++i) m_workers.push_back(std::make_unique<worker>(*this, i));
  for (const auto& each : m_workers) {
    m_threads.emplace_back([&which = *each] { which.work(); });
    char name[16];
    std::snprintf(name, sizeof name, "worker-%u", each->number());
    pthread_setname_np(m_threads.back().native_handle(), name);
  }
}

runtime::~runtime() {
  m_is_ending.store(true, std::memory_order_seq_cst);
  m_events.wake_all();
  for (std::thread& each : m_threads) each.join();
}

void runtime::submit(std::function<void()> task) {
  {
    const std::lock_guard guard(m_submitted_lock);
    m_submitted.push_back(std::move(task));
    m_submitted_count.fetch_add(1, std::memory_order_seq_cst);
  }
  m_events.wake_one();
}

bool runtime::take_submitted(std::function<void()>& into) {
  if (m_submitted_count.load(std::memory_order_seq_cst) == 0) return false;
  const std::lock_guard guard(m_submitted_lock);
  if (m_submitted.empty()) return false;
  into = std::move(m_submitted.front());
  m_submitted.pop_front();
  m_submitted_count.fetch_sub(1, std::memory_order_seq_cst);
  return true;
}

worker_counts runtime::counts(std::uint32_t number) const { return m_workers.at(number)->counts(); }

}  // namespace trimtab::tasks

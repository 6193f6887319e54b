#include "trimtab/tasks/sync/timer.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "process_locks.hpp"

namespace trimtab::tasks {

class timer_service {
 public:
  static timer_service& here() noexcept;

  void add(timer& what) {
    const std::lock_guard guard(m_lock);
    if (!m_is_started) {
      std::thread([this] { run(); }).detach();
      m_is_started = true;
    }
    m_heap.push_back(&what);
    m_armed.store(m_heap.size(), std::memory_order_release);
    rise(m_heap.size() - 1);
    if (m_heap.front() == &what) m_changed.notify_one();
  }

  bool remove(timer& what) noexcept {
    for (;; sched_yield()) {
      const std::lock_guard guard(m_lock);
      if (what.m_slot < m_heap.size() && m_heap[what.m_slot] == &what) {
        take(what.m_slot);
        return true;
      }
      if (m_running != &what) return false;
    }
  }

  std::size_t armed() const noexcept { return m_armed.load(std::memory_order_acquire); }
  // Who sees that the last was taken out sees that its work is under way, or all that it has done.
  bool is_any_pending() const noexcept { return armed() != 0 || m_is_expiring.load(std::memory_order_acquire); }

 private:
  // The earliest is the first; each is at the latest when the two below it are.
  void set(std::size_t slot, timer& what) noexcept {
    m_heap[slot] = &what;
    what.m_slot = slot;
  }
  void rise(std::size_t slot) noexcept {
    timer& what = *m_heap[slot];
    for (; slot > 0 && what.m_when < m_heap[(slot - 1) / 2]->m_when; slot = (slot - 1) / 2)
      set(slot, *m_heap[(slot - 1) / 2]);
    set(slot, what);
  }
  void sink(std::size_t slot) noexcept {
    timer& what = *m_heap[slot];
    for (;;) {
      std::size_t below = 2 * slot + 1;
      if (below >= m_heap.size()) break;
      if (below + 1 < m_heap.size() && m_heap[below + 1]->m_when < m_heap[below]->m_when) ++below;
      if (!(m_heap[below]->m_when < what.m_when)) break;
      set(slot, *m_heap[below]);
      slot = below;
    }
    set(slot, what);
  }
  void take(std::size_t slot) noexcept {
    timer* const last = m_heap.back();
    m_heap.pop_back();
    m_armed.store(m_heap.size(), std::memory_order_release);
    if (slot == m_heap.size()) return;
    set(slot, *last);
    rise(slot);
    sink(last->m_slot);
  }

  void run() noexcept {
    pthread_setname_np(pthread_self(), "timers");
    std::unique_lock guard(m_lock);
    for (;;) {
      if (m_heap.empty()) {
        m_changed.wait(guard);
        continue;
      }
      timer& first = *m_heap.front();
      if (const auto when = first.m_when; when > timer::clock::now()) {
        m_changed.wait_until(guard, when);
        continue;
      }
      m_is_expiring.store(true, std::memory_order_relaxed);
      take(0);
      m_running = &first;
      guard.unlock();
      first.m_expired(first);
      m_is_expiring.store(false, std::memory_order_release);
      guard.lock();
      m_running = nullptr;
    }
  }

  std::mutex m_lock;
  std::condition_variable m_changed;
  std::vector<timer*> m_heap;
  std::atomic<std::size_t> m_armed{0};
  std::atomic<bool> m_is_expiring{false};
  timer* m_running = nullptr;
  bool m_is_started = false;
};

namespace {

constinit made_once<timer_service> service(of_process::timers);
[[maybe_unused]] const int is_timer_forgotten = pthread_atfork(nullptr, nullptr, [] { service.forget(); });

}  // namespace

// Never destroyed: its thread runs as long as the process. In a forked child there is no such thread, and what was armed
// belongs to the parent: it begins anew.
timer_service& timer_service::here() noexcept {
  return service.get([] { return timer_service(); });
}

void timer::arm(clock::time_point when) noexcept {
  m_when = when;
  timer_service::here().add(*this);
}

bool timer::cancel() noexcept { return timer_service::here().remove(*this); }

std::size_t timer::armed() noexcept { return timer_service::here().armed(); }
bool timer::is_any_pending() noexcept { return timer_service::here().is_any_pending(); }

}  // namespace trimtab::tasks

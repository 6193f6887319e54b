#include "trimtab/tasks/sync/timer.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "process_locks.hpp"
#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::tasks {

class timer_service {
 public:
  static timer_service& instance() noexcept;

  void add(timer& entry) {
    const std::lock_guard guard(m_lock);
    if (!m_is_started) {
      std::thread([this] { run(); }).detach();
      m_is_started = true;
    }
    m_heap.push_back(&entry);
    m_armed.store(m_heap.size(), std::memory_order_release);
    rise(m_heap.size() - 1);
    if (m_heap.front() == &entry) m_changed.notify_one();
  }

  bool remove(timer& entry) noexcept {
    for (;; sched_yield()) {
      const std::lock_guard guard(m_lock);
      if (entry.m_slot < m_heap.size() && m_heap[entry.m_slot] == &entry) {
        remove_at(entry.m_slot);
        return true;
      }
      if (m_running != &entry) return false;
    }
  }

  std::size_t armed() const noexcept { return m_armed.load(std::memory_order_acquire); }
  // Who sees that the last was taken out sees that its work is under way, or all that it has done.
  bool is_any_pending() const noexcept { return armed() != 0 || m_is_expiring.load(std::memory_order_acquire); }

 private:
  // The earliest is the first; each is at the latest when the two below it are.
  void set(std::size_t slot, timer& entry) noexcept {
    m_heap[slot] = &entry;
    entry.m_slot = slot;
  }
  void rise(std::size_t slot) noexcept {
    timer& entry = *m_heap[slot];
    for (; slot > 0 && entry.m_deadline < m_heap[(slot - 1) / 2]->m_deadline; slot = (slot - 1) / 2)
      set(slot, *m_heap[(slot - 1) / 2]);
    set(slot, entry);
  }
  void sink(std::size_t slot) noexcept {
    timer& entry = *m_heap[slot];
    for (;;) {
      std::size_t child = 2 * slot + 1;
      if (child >= m_heap.size()) break;
      if (child + 1 < m_heap.size() && m_heap[child + 1]->m_deadline < m_heap[child]->m_deadline) ++child;
      if (!(m_heap[child]->m_deadline < entry.m_deadline)) break;
      set(slot, *m_heap[child]);
      slot = child;
    }
    set(slot, entry);
  }
  void remove_at(std::size_t slot) noexcept {
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
    recording::this_thread_is_timer();
    std::unique_lock guard(m_lock);
    for (;;) {
      if (m_heap.empty()) {
        m_changed.wait(guard);
        continue;
      }
      timer& first = *m_heap.front();
      if (const auto deadline = first.m_deadline; deadline > timer::clock::now()) {
        m_changed.wait_until(guard, deadline);
        continue;
      }
      m_is_expiring.store(true, std::memory_order_relaxed);
      remove_at(0);
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

constinit lazy_singleton<timer_service> service(of_process::timers);
[[maybe_unused]] const int is_timer_forgotten = pthread_atfork(nullptr, nullptr, [] { service.forget(); });

}  // namespace

// Never destroyed: its thread runs as long as the process. In a forked child there is no such thread, and what was armed
// belongs to the parent: it begins anew.
timer_service& timer_service::instance() noexcept {
  return service.get([] { return timer_service(); });
}

void timer::arm(clock::time_point deadline) noexcept {
  m_deadline = deadline;
  timer_service::instance().add(*this);
}

bool timer::cancel() noexcept { return timer_service::instance().remove(*this); }

std::size_t timer::armed() noexcept { return timer_service::instance().armed(); }
bool timer::is_any_pending() noexcept { return timer_service::instance().is_any_pending(); }

}  // namespace trimtab::tasks

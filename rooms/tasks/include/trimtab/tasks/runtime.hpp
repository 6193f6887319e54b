// Workers that run tasks. One runtime owns its threads; several may live in one process.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "trimtab/tasks/event_count.hpp"
#include "trimtab/tasks/fork_stack.hpp"

namespace trimtab::tasks {

class runtime;

// Exact counts of one worker, since its start. Read by others while it counts: each figure is right, they may be of
// slightly different moments.
struct worker_counts {
  std::uint64_t forked;  // tasks that this worker forked
  std::uint64_t stolen;  // tasks of others that it ran
  std::uint64_t parked;  // times that it went to sleep
};

class alignas(64) worker {
 public:
  worker(runtime& owner, std::uint32_t number);

  static worker* current() noexcept { return t_current; }
  runtime& owner() noexcept { return m_owner; }
  std::uint32_t number() const noexcept { return m_number; }

  // nullptr: no room, the caller runs the task itself.
  fork_frame* fork(void (*run)(void*) noexcept, void* closure) noexcept {
    const std::uint64_t offers = m_stack.offers();
    fork_frame* const frame = m_stack.push(run, closure);
    if (m_stack.offers() != offers) [[unlikely]]
      offered();
    if (frame != nullptr) count(m_forked);
    return frame;
  }

  // Takes the newest forked task back (true), or waits until its thief has run it (false), running others meanwhile.
  bool join(fork_frame& newest) noexcept {
    if (m_stack.pop()) [[likely]]
      return true;
    wait_for(newest);
    return false;
  }

  worker_counts counts() const noexcept;

 private:
  friend class runtime;

  // One writer: no locked instruction.
  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void offered() noexcept;
  void wait_for(fork_frame& stolen) noexcept;
  void work() noexcept;
  bool run_stolen() noexcept;
  template <class ready>
  void idle(ready is_ready) noexcept;

  static constinit thread_local worker* t_current;

  fork_stack m_stack;
  std::atomic<std::uint64_t> m_forked{0};
  runtime& m_owner;
  std::uint32_t m_number;
  std::uint64_t m_random;
  alignas(64) std::atomic<std::uint64_t> m_stolen{0};
  std::atomic<std::uint64_t> m_parked{0};
};

struct runtime_options {
  // Threads that run tasks; 0: as many as this process may use CPUs (affinity and cgroup quota).
  std::uint32_t workers = 0;
};

class runtime {
 public:
  explicit runtime(const runtime_options& options = {});
  // Waits until all that was handed over has run.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(m_workers.size()); }

  // Runs f() on a worker and gives back what it returns, or throws what it throws. The calling thread waits; on a
  // worker of this runtime, f is called in place.
  template <class function>
  auto run(function&& f) -> std::invoke_result_t<function&> {
    if (worker* const here = worker::current(); here != nullptr && &here->owner() == this) return f();
    using value = std::invoke_result_t<function&>;
    // Shared: the worker may still be inside release() when the caller goes on.
    const auto done = std::make_shared<std::binary_semaphore>(0);
    std::exception_ptr error;
    std::optional<std::conditional_t<std::is_void_v<value>, bool, value>> result;
    submit([&, done] {
      try {
        if constexpr (std::is_void_v<value>)
          f();
        else
          result.emplace(f());
      } catch (...) {
        error = std::current_exception();
      }
      done->release();
    });
    done->acquire();
    if (error) std::rethrow_exception(error);
    if constexpr (!std::is_void_v<value>) return std::move(*result);
  }

  worker_counts counts(std::uint32_t number) const;  // number < workers()

 private:
  friend class worker;

  // task must not throw.
  void submit(std::function<void()> task);
  bool take_submitted(std::function<void()>& into);

  std::vector<std::unique_ptr<worker>> m_workers;
  std::vector<std::thread> m_threads;
  event_count m_events;
  std::atomic<bool> m_is_ending{false};
  // Of threads that are no workers: rare, so a lock will do.
  std::mutex m_submitted_lock;
  std::deque<std::function<void()>> m_submitted;
  std::atomic<std::uint32_t> m_submitted_count{0};
};

}  // namespace trimtab::tasks

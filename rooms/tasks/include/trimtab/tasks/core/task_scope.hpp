// Structured tasks: any number of tasks that all end before the scope does.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

class task_scope {
 public:
  task_scope() = default;
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;
  // Waits, and throws a member's exception that wait() has not thrown yet. If another exception is leaving the block of the
  // scope, that one continues, and the member's exception is dropped.
  ~task_scope() noexcept(false) {
    await();
    if (m_error && std::uncaught_exceptions() <= m_uncaught) [[unlikely]]
      std::rethrow_exception(std::move(m_error));
  }

  // Runs f() as a task. To be called by the task that owns the scope, or by tasks of the scope.
  template <class function>
  void spawn(function&& f) {
    spawn(task_options{}, std::forward<function>(f));
  }
  template <class function>
  void spawn(const task_options& options, function&& f) {
    worker* const this_worker = worker::current();
    auto& node = make_in_block<spawned<std::decay_t<function>>>(this_worker, *this, std::forward<function>(f), options);
    if (this_worker != nullptr && this_worker->running_stack() == m_stack && m_stack != nullptr)
      m_spawned += 1;
    else
      m_left.fetch_add(1, std::memory_order_relaxed);
    if (this_worker != nullptr && options.worker < 0) [[likely]] {
      this_worker->counters().created.add();
      this_worker->push(node);
    } else {
      detail::spawn(node, options);
    }
  }

  // Returns when all have ended. Throws the first exception that one of them threw.
  void wait() {
    await();
    if (!m_error) return;
    m_has_failed.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(m_error, nullptr));
  }

  // Tasks that have not begun are dropped; running tasks may ask stop_requested().
  void request_stop() noexcept { m_is_stopped.store(true, std::memory_order_relaxed); }
  bool stop_requested() const noexcept { return m_is_stopped.load(std::memory_order_relaxed); }

 private:
  struct member : task {
    explicit member(task_scope& owner) noexcept : scope(owner) { is_member = true; }
    task_scope& scope;
  };

  template <class function>
  struct spawned final : member {
    template <class from>
    spawned(task_scope& owner, from&& called, const task_options& options)
        : member(owner), call(std::forward<from>(called)) {
      this->run = run_it;
      detail::set_up(*this, detail::describe<function>(options, call));
    }
    static void run_it(task& self, place position) noexcept {
      auto& derived = static_cast<spawned&>(self);
      task_scope& scope = derived.scope;
      if (!scope.stop_requested()) try {
          derived.call();
        } catch (...) {
          scope.failed(std::current_exception());
        }
      destroy_in_block(worker::current(), derived);
      // The last access to the scope, unless its owner runs this.
      if (position == place::loop) scope.ended();
    }
    function call;
  };

  // Added to m_left until the owner waits: tasks that the owner spawned are not counted there yet.
  static constexpr std::int64_t not_waiting = std::int64_t{1} << 48;

  // Called by members that the owner has not run itself.
  void ended() noexcept {
    if (m_left.fetch_sub(1, std::memory_order_acq_rel) == 1) m_waiting->complete();
  }
  static stack* stack_of_caller() noexcept {
    worker* const this_worker = worker::current();
    return this_worker != nullptr ? this_worker->running_stack() : nullptr;
  }
  void await() noexcept;
  void failed(std::exception_ptr error) noexcept;

  // The owner's.
  stack* m_stack = stack_of_caller();
  std::int64_t m_spawned = 0;
  const int m_uncaught = std::uncaught_exceptions();
  completion* m_waiting = nullptr;
  // Members that tasks other than the owner spawned, minus those that have ended; while the owner waits, all members.
  alignas(64) std::atomic<std::int64_t> m_left{not_waiting};
  // Read by each member and rarely written: not in the cache line that each end writes.
  alignas(64) std::atomic<bool> m_is_stopped{false};
  std::atomic<bool> m_has_failed{false};
  std::exception_ptr m_error;
};

}  // namespace trimtab::tasks

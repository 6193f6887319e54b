// Coroutines as tasks: a co_task<value> begins when it is awaited, and gives its value to the one who awaits it. Who waits
// in a coroutine keeps its frame, some 200 bytes, and no stack.
// fork, for structured fork-join, and spawn, which gives a future, are in coroutine_fork.hpp.
#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/coroutines/coroutine_context.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/futures/state.hpp"

namespace trimtab::tasks {

template <class value>
class co_task;

namespace detail {

// A task<T> that has a name.
template <class>
inline constexpr bool is_named_task = false;
template <class value>
inline constexpr bool is_named_task<co_task<value>&> = true;
template <class value>
inline constexpr bool is_named_task<const co_task<value>&> = true;

// Transfers control from a suspended coroutine to `coroutine`. clang does this by a jump, which leaves nothing on the stack.
// GCC does so only from -O2 on, and no macro says whether it does. So with GCC, on_low_stack() is called when the stack is
// low: long chains then continue through a queue before the stack ends.
template <class function>
std::coroutine_handle<> transfer(std::coroutine_handle<> coroutine, [[maybe_unused]] function&& on_low_stack) {
#if !defined(__clang__)
  if (worker* const this_worker = worker::current(); this_worker != nullptr && this_worker->is_stack_low()) {
    on_low_stack(*this_worker);
    return std::noop_coroutine();
  }
#endif
  return coroutine;
}

// `stopped`.
std::exception_ptr stopped_error() noexcept;

// The awaiter of what is awaited: the result of its operator co_await if it has one, else the object itself.
template <class awaited>
decltype(auto) awaiter_of(awaited&& source) {
  if constexpr (requires { std::forward<awaited>(source).operator co_await(); })
    return std::forward<awaited>(source).operator co_await();
  else if constexpr (requires { operator co_await(std::forward<awaited>(source)); })
    return operator co_await(std::forward<awaited>(source));
  else
    return std::forward<awaited>(source);
}

// The same awaiter; its coroutine, one of ours, knows that it is set aside before anyone may resume it.
template <class awaiter>
struct awaiter_of_ours {
  awaiter inner;
  [[gnu::always_inline]] bool await_ready() noexcept(noexcept(inner.await_ready())) { return inner.await_ready(); }
  template <class promise>
  [[gnu::always_inline]] auto await_suspend(std::coroutine_handle<promise> self) {
    self.promise().is_set_aside();
    return inner.await_suspend(self);
  }
  [[gnu::always_inline]] decltype(auto) await_resume() { return inner.await_resume(); }
};

// What all promises of ours begin with. As a task it starts the coroutine, or resumes it.
class coroutine_promise : public task {
 public:
  static void* operator new(std::size_t bytes) { return allocate_block(worker::current(), bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_block(worker::current(), frame, bytes); }

  ~coroutine_promise() {
    if ((flags & owns_context) != 0) [[unlikely]]
      drop_context();
  }
  coroutine_promise(const coroutine_promise&) = delete;
  coroutine_promise& operator=(const coroutine_promise&) = delete;

  std::suspend_always initial_suspend() const noexcept { return {}; }

  template <class awaited>
  [[gnu::always_inline]] auto await_transform(awaited&& source) {
    static_assert(!is_named_task<awaited&&>,
                  "trimtab: a task is awaited once, and is gone then: write co_await std::move(task).");
    return awaiter_of_ours<decltype(awaiter_of(std::forward<awaited>(source)))>{awaiter_of(std::forward<awaited>(source))};
  }

  // Who goes on after the end: the address of a coroutine, or one of these. That of one which was forked or called is
  // changed by who waits for it, and by itself: when it ends, and when it is set aside. Until then, while it is_called, who
  // awaits it is below on its stack, and nobody else knows of it. What a spawned one gives its value to is marked by the
  // lowest bit.
  static constexpr std::uintptr_t nobody = 0, is_begun = 1, is_called = 2, has_ended = 3, mark = 1;
  // Of a fork: it was not at hand, so that its parent was suspended. It owns its kind of work, a context.
  static constexpr std::uint8_t awaited_in_vain = 1, owns_context = 2;
  std::uint8_t flags = 0;  // used by its parent only
  std::atomic<std::uintptr_t> next_one{nobody};
  std::uint32_t number = 0;            // while it is set aside, as running_task::number
  std::uint32_t number_of_parent = 0;  // the same of the one that waits for this one, a fork

  bool is_spawned() const noexcept {
    const std::uintptr_t address = next_one.load(std::memory_order_relaxed);
    return address != is_begun && (address & mark) != 0;
  }
  // nullptr: it has none, or shares that of its caller.
  coroutine_context* own_context() const noexcept;
  void is_set_aside() noexcept {
    if (next_one.load(std::memory_order_relaxed) == is_called) next_one.store(is_begun, std::memory_order_relaxed);
  }
  // Out of a queue, at this worker. False: it was told to stop before it began.
  bool about_to_run() noexcept;
  // Of a fork: its parent, which was suspended, goes on.
  void parent_is_back() noexcept;

  // Begins it, as a call on the awaiting one's stack, which processors predict better than a jump to and fro. True: it has
  // ended. False: it waits for something, or the stack was too short to begin it.
  template <class promise>
  static bool call(worker* this_worker, promise& child) noexcept {
    if (this_worker == nullptr || this_worker->is_stack_low()) [[unlikely]] {
      child.next_one.store(nobody, std::memory_order_relaxed);
      return false;
    }
    child.next_one.store(is_called, std::memory_order_relaxed);
    running_task& running = this_worker->running();
    const task_kind* const kind = running.kind_of_work;
    if (child.kind_of_work != kind) [[unlikely]] {
      if (child.kind_of_work == nullptr)
        child.kind_of_work = kind;
      else
        child.begin_on_top(*this_worker);
    }
    std::coroutine_handle<promise>::from_promise(child).resume();
    if (running.kind_of_work != kind) [[unlikely]]
      return_to_caller(running, kind);
    // Acquire: it may have ended elsewhere.
    return child.next_one.load(std::memory_order_acquire) == has_ended;
  }

  // After call() has given false.
  template <class promise>
  static std::coroutine_handle<> await(promise& child, std::coroutine_handle<> parent) noexcept {
    std::uintptr_t newest = child.next_one.load(std::memory_order_acquire);
    const auto address = reinterpret_cast<std::uintptr_t>(parent.address());
    if (newest == nobody) {
      child.next_one.store(address, std::memory_order_relaxed);
      if (child.begins_elsewhere()) return std::noop_coroutine();
      return transfer(std::coroutine_handle<promise>::from_promise(child),
                      [&](worker& this_worker) { this_worker.push(child); });
    }
    // Also if it has ended since call(): await_resume() takes the parent back whenever it was to be suspended.
    child.parent_leaves();
    // The exchange fails only if it has ended meanwhile. Else the parent may go on elsewhere from now on.
    if (newest == has_ended ||
        !child.next_one.compare_exchange_strong(newest, address, std::memory_order_acq_rel, std::memory_order_acquire))
      return parent;
    return std::noop_coroutine();
  }

  static std::coroutine_handle<> resume_at(std::uintptr_t address) noexcept {
    const auto caller = std::coroutine_handle<>::from_address(reinterpret_cast<void*>(address));
    return transfer(caller, [&](worker& this_worker) { this_worker.push(make_resumption(caller)); });
  }

  struct at_end {
    bool await_ready() const noexcept { return false; }
    template <class promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<promise> self) const noexcept {
      if (self.promise().kind_of_work != nullptr) [[unlikely]]
        self.promise().tell_end();
      // Acquire: who waits for a fork has been suspended before it said so.
      const std::uintptr_t next = self.promise().next_one.load(std::memory_order_acquire);
      if (next == is_called) [[likely]] {
        self.promise().next_one.store(has_ended, std::memory_order_relaxed);
        return std::noop_coroutine();
      }
      if (next == is_begun) return end_of_begun(self.promise());
      return (next & mark) == 0 ? resume_at(next) : self.promise().end_of_spawned(next);
    }
    void await_resume() const noexcept {}
  };
  at_end final_suspend() const noexcept { return {}; }

 protected:
  explicit coroutine_promise(void (*resume)(task&, place) noexcept) noexcept {
    run = resume;
    role = kind::fork;
  }

 private:
  void drop_context() noexcept;
  void tell_end() noexcept;
  void begin_on_top(worker& this_worker) noexcept;
  static void return_to_caller(running_task& running, const task_kind* kind) noexcept;
  // Called by its parent. Before it has begun: true if it will begin out of a queue.
  bool begins_elsewhere() noexcept;
  void parent_leaves() noexcept;

  // Afterwards the frame may be gone.
  static std::coroutine_handle<> end_of_begun(coroutine_promise& self) noexcept {
    const std::uintptr_t waiting = self.next_one.exchange(has_ended, std::memory_order_acq_rel);
    return waiting != is_begun ? resume_at(waiting) : std::noop_coroutine();
  }
};

// The value or the exception of a coroutine, until it is taken.
template <class value>
class coroutine_result : public coroutine_promise {
 public:
  using stored_type = stored<value>;
  explicit coroutine_result(void (*resume)(task&, place) noexcept) noexcept : coroutine_promise(resume) {}
  ~coroutine_result() {
    if (m_held == holds::result)
      m_value.~stored_type();
    else if (m_held == holds::error) [[unlikely]]
      m_error.~exception_ptr();
  }

  void unhandled_exception() noexcept { hold_error(std::current_exception()); }
  void tell_stopped() noexcept { hold_error(stopped_error()); }

  value move_result() {
    if (m_held == holds::error) [[unlikely]]
      std::rethrow_exception(m_error);
    if constexpr (std::is_reference_v<value>)
      return static_cast<value>(*m_value);
    else if constexpr (!std::is_void_v<value>)
      return std::move(m_value);
  }

  void move_to(state<value>& target) noexcept {
    if (m_held == holds::error) {
      target.error() = std::move(m_error);
      return;
    }
    try {
      target.emplace(std::move(m_value));
    } catch (...) {
      target.error() = std::current_exception();
    }
  }

 protected:
  template <class from>
  void hold(from&& result) {
    new (&m_value) stored_type(std::forward<from>(result));
    m_held = holds::result;
  }

 private:
  void hold_error(std::exception_ptr error) noexcept {
    new (&m_error) std::exception_ptr(std::move(error));
    m_held = holds::error;
  }
  union {
    stored_type m_value;
    std::exception_ptr m_error;
  };
  enum class holds : std::uint8_t { empty, result, error } m_held = holds::empty;
};

template <class value>
struct coroutine_returns : coroutine_result<value> {
  using coroutine_result<value>::coroutine_result;
  template <class from = value>
    requires std::convertible_to<from&&, value>
  void return_value(from&& result) {
    if constexpr (std::is_reference_v<value>)
      this->hold(&static_cast<value>(result));
    else
      this->hold(std::forward<from>(result));
  }
};

template <>
struct coroutine_returns<void> : coroutine_result<void> {
  using coroutine_result<void>::coroutine_result;
  void return_void() { hold(no_value{}); }
};

// What a spawned coroutine gives its value to.
template <class value>
class spawned_state final : public state<value> {
 public:
  explicit spawned_state(runtime& owner) noexcept : state<value>(2, destroy_state<spawned_state>), home(&owner) {}
  runtime* home;
};

}  // namespace detail

// A coroutine that has not begun. It belongs to this object, and so does its value; who awaits it begins it.
template <class value = void>
class [[nodiscard]] co_task {
 public:
  class promise_type;
  using handle = std::coroutine_handle<promise_type>;

  co_task() = default;
  co_task(co_task&& source) noexcept : m_coroutine(std::exchange(source.m_coroutine, nullptr)) {}
  co_task& operator=(co_task source) noexcept {
    std::swap(m_coroutine, source.m_coroutine);
    return *this;
  }
  ~co_task() {
    if (m_coroutine) m_coroutine.destroy();
  }

  bool valid() const noexcept { return static_cast<bool>(m_coroutine); }
  handle release() noexcept { return std::exchange(m_coroutine, nullptr); }

  struct awaiter {
    handle child;
    bool await_ready() const noexcept { return detail::coroutine_promise::call(worker::current(), child.promise()); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) const noexcept {
      return detail::coroutine_promise::await(child.promise(), parent);
    }
    value await_resume() const { return child.promise().move_result(); }
  };
  awaiter operator co_await() && noexcept { return {m_coroutine}; }

 private:
  explicit co_task(handle coroutine) noexcept : m_coroutine(coroutine) {}
  handle m_coroutine;
};

template <class value>
class co_task<value>::promise_type : public detail::coroutine_returns<value> {
 public:
  promise_type() noexcept
      : detail::coroutine_returns<value>([](task& self, task::place) noexcept {
          auto& derived = static_cast<promise_type&>(self);
          const bool needs_setup =
              derived.role == task::kind::resumption || derived.kind_of_work != nullptr || derived.number != 0;
          if (needs_setup && !derived.about_to_run()) [[unlikely]]
            return derived.stop();
          handle::from_promise(derived).resume();
        }) {}

  co_task get_return_object() noexcept { return co_task(handle::from_promise(*this)); }

  void set_target(detail::spawned_state<value>& target) noexcept {
    this->next_one.store(reinterpret_cast<std::uintptr_t>(&target) | this->mark, std::memory_order_relaxed);
  }

  // Instead of beginning.
  void stop() noexcept {
    this->tell_stopped();
    end_of_spawned(this->next_one.load(std::memory_order_relaxed));
  }

  // The frame is gone before anyone is told.
  std::coroutine_handle<> end_of_spawned(std::uintptr_t marked) noexcept {
    auto& target = *reinterpret_cast<detail::spawned_state<value>*>(marked - this->mark);
    if (worker::current() == nullptr) {
      // Resumed by somebody else's thread. To be counted the task must end at a worker.
      this->run = [](task& self, task::place) noexcept {
        auto& derived = static_cast<promise_type&>(self);
        derived.end_of_spawned(derived.next_one.load(std::memory_order_relaxed));
      };
      detail::make_ready(*this, *target.home);
      return std::noop_coroutine();
    }
    this->move_to(target);
    handle::from_promise(*this).destroy();
    target.ready_event().complete();
    target.release();
    worker::current()->counters().finished.add_released();
    return std::noop_coroutine();
  }
};

}  // namespace trimtab::tasks

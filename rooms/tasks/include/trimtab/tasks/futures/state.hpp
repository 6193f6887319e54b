// What a future and whoever gives its value share.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>  // std::future_error
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/sync/early_end.hpp"

namespace trimtab::tasks::detail {

// Throws where the running task must not wait: in a graph's.
void check_may_wait(wait_reason reason);

// Counted by references. Who gives the value holds one until it has.
class state_base {
 public:
  state_base(const state_base&) = delete;
  state_base& operator=(const state_base&) = delete;

  void retain() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (m_references.load(std::memory_order_acquire) == 1 || m_references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      m_destroy(*this);
  }

  bool is_ready() const noexcept { return m_ready_event.is_ready(); }
  completion& ready_event() noexcept { return m_ready_event; }
  std::exception_ptr& error() noexcept { return m_error; }

  // Returns when the value is there. A task that would give it, has not begun and lies in the
  // worker's own queue is run in place.
  void wait() {
    if (m_ready_event.is_ready()) return;
    if (m_producer != nullptr && run_producer()) return;
    check_may_wait(wait_reason::future);
    m_ready_event.wait(wait_reason::future);
  }

  // False: stop was requested before. Runs nothing in place, so that it can be cut short.
  bool wait(const std::stop_token& stop) {
    if (m_ready_event.is_ready()) return true;
    check_may_wait(wait_reason::future);
    return wait_unless(stop, m_ready_event, wait_reason::future, this);
  }

  using destroyer = void (*)(state_base&) noexcept;

 protected:
  state_base(std::uint32_t references, destroyer destroy, task* producer = nullptr) noexcept
      : m_references(references), m_destroy(destroy), m_producer(producer) {}
  ~state_base() = default;

  // Stores what `call` throws.
  template <class function>
  void guarded(function&& call) noexcept {
    try {
      call();
    } catch (...) {
      m_error = std::current_exception();
    }
  }

 private:
  bool run_producer() {
    worker* const this_worker = worker::current();
    if (this_worker == nullptr || !this_worker->take_by_level(*m_producer)) return false;
    if (this_worker->is_stack_low()) [[unlikely]]
      worker::run_on_new_stack([](void* memory) noexcept { worker::current()->run_in_place(*static_cast<task*>(memory)); },
                               m_producer);
    else
      this_worker->run_in_place(*m_producer);
    // If nobody else knows of it: the queue's reference is ours now, the other is the caller's.
    if (m_references.load(std::memory_order_acquire) == 2 && !m_ready_event.is_awaited()) [[likely]] {
      m_ready_event.complete_unshared();
      m_references.store(1, std::memory_order_relaxed);
      return true;
    }
    m_ready_event.complete();
    release();
    return true;
  }

  completion m_ready_event;
  std::atomic<std::uint32_t> m_references;
  destroyer m_destroy;
  task* m_producer;  // the task that gives the value, if it goes through a queue
  std::exception_ptr m_error;
};

struct no_value {};

// What is stored for a T: references as pointers, void as nothing.
template <class value>
using stored = std::conditional_t<
    std::is_void_v<value>, no_value,
    std::conditional_t<std::is_reference_v<value>, std::add_pointer_t<std::remove_reference_t<value>>, value>>;

template <class value>
class state : public state_base {
 public:
  using stored_type = stored<value>;

  template <class... arguments>
  void emplace(arguments&&... inputs) {
    new (&m_value) stored_type(std::forward<arguments>(inputs)...);
    m_has_value = true;
  }
  // With the result of call().
  template <class function>
  void emplace_result(function&& call) {
    if constexpr (std::is_void_v<value>) {
      call();
      emplace();
    } else if constexpr (std::is_reference_v<value>) {
      emplace(&call());
    } else {
      new (&m_value) stored_type(call());
      m_has_value = true;
    }
  }
  bool has_value() const noexcept { return m_has_value; }

  // The value or the exception, which must be there.
  stored_type& get() {
    if (error()) [[unlikely]]
      std::rethrow_exception(error());
    return m_value;
  }

 protected:
  state(std::uint32_t references, typename state_base::destroyer destroy, task* producer = nullptr) noexcept
      : state_base(references, destroy, producer) {}
  ~state() {
    if (m_has_value) m_value.~stored_type();
  }

 private:
  union {
    stored_type m_value;
  };
  bool m_has_value = false;
};

// A state in a block of its own, made by make_state. own: the most derived class.
template <class own>
void destroy_state(state_base& state) noexcept {
  destroy_in_block(worker::current(), static_cast<own&>(state));
}

template <class own, class... arguments>
own& make_state(arguments&&... from) {
  return make_in_block<own>(worker::current(), std::forward<arguments>(from)...);
}

[[noreturn]] inline void no_state() { throw std::future_error(std::future_errc::no_state); }

// A state that is given its value by others: promises, ready futures.
template <class value>
class plain_state final : public state<value> {
 public:
  explicit plain_state(std::uint32_t references) noexcept : state<value>(references, destroy_state<plain_state>) {}
};

}  // namespace trimtab::tasks::detail

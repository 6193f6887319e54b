// future, shared_future and promise: as of the standard library, with compositions, and without blocking a worker.
// What waits for a future on a worker lets the worker run something else meanwhile.
#pragma once

#include <chrono>
#include <concepts>
#include <tuple>
#include <vector>

#include "trimtab/tasks/core/reference.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/futures/state.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::tasks {

template <class value>
class future;
template <class value>
class shared_future;
template <class value>
class promise;

namespace detail {

struct access;

template <class>
struct is_future : std::false_type {};
template <class value>
struct is_future<future<value>> : std::true_type {};
template <class value>
struct is_future<shared_future<value>> : std::true_type {};

[[noreturn]] inline void stopped_while_waiting() { throw stopped("trimtab: stopped while it waited for a future"); }

// What get() gives, or throws `stopped`.
template <class awaited>
class stoppable_get_awaiter : public stoppable_completion_awaiter {
 public:
  stoppable_get_awaiter(awaited& source, completion& event, std::stop_token&& stop)
      : stoppable_completion_awaiter(recording::cause::future, std::move(stop), event), m_awaited(source) {}
  decltype(auto) await_resume() {
    if (!was_notified()) stopped_while_waiting();
    return m_awaited.get();
  }

 private:
  awaited& m_awaited;
};

template <class value>
class future_base {
 public:
  future_base() = default;
  bool valid() const noexcept { return static_cast<bool>(m_state); }
  // False while invalid.
  bool ready() const noexcept { return m_state && m_state->is_ready(); }
  void wait() const { checked().wait(); }
  // False: stop was requested before it was ready.
  bool wait(const std::stop_token& stop) const { return checked().wait(stop); }
  // For coroutines: co_await f.wait_async(stop), with the same result.
  stoppable_completion_awaiter wait_async(std::stop_token stop) const {
    return {recording::cause::future, std::move(stop), checked().ready_event()};
  }

  // Never std::future_status::deferred.
  template <class rep, class period>
  std::future_status wait_for(const std::chrono::duration<rep, period>& time) const {
    return wait_to(deadline_after(time));
  }
  template <class clock, class duration>
  std::future_status wait_until(const std::chrono::time_point<clock, duration>& deadline) const {
    return wait_to(deadline_at(deadline));
  }

 protected:
  friend struct access;
  explicit future_base(reference<state<value>> shared) noexcept : m_state(std::move(shared)) {}
  state<value>& checked() const {
    if (!m_state) no_state();
    return *m_state;
  }
  void wait_or_throw(const std::stop_token& stop) const {
    if (!wait(stop)) stopped_while_waiting();
  }
  reference<state<value>> m_state;

 private:
  std::future_status wait_to(timer::clock::time_point deadline) const {
    return detail::wait_until(checked().ready_event(), deadline, wait_reason::future) ? std::future_status::ready
                                                                                      : std::future_status::timeout;
  }
};

struct access {
  template <class value>
  static reference<state<value>>& state_of(future_base<value>& source) noexcept {
    return source.m_state;
  }
  template <class value>
  static const reference<state<value>>& state_of(const future_base<value>& source) noexcept {
    return source.m_state;
  }
  template <class value>
  static future<value> future_of(state<value>& owned) noexcept {
    return future<value>(reference<state<value>>(owned));
  }
};

}  // namespace detail

template <class value>
class future : public detail::future_base<value> {
 public:
  future() = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;
  // A future of a future is that inner future, at some time.
  future(future<future<value>>&& nested);

  // The value, or throws the exception. The future is invalid afterwards.
  value get() {
    const auto shared = release_state();
    shared->wait();
    if constexpr (std::is_void_v<value>)
      shared->get();
    else if constexpr (std::is_reference_v<value>)
      return *shared->get();
    else
      return std::move(shared->get());
  }

  // Throws `stopped` if stop was requested before it was ready; the future is still valid then.
  value get(const std::stop_token& stop) {
    this->wait_or_throw(stop);
    return get();
  }

  // For coroutines: co_await f.get_async(stop), with the same result.
  detail::stoppable_get_awaiter<future> get_async(std::stop_token stop) {
    return {*this, this->checked().ready_event(), std::move(stop)};
  }

  shared_future<value> share() noexcept { return shared_future<value>(std::move(this->m_state)); }

  // f(ready future) becomes a task when this future is ready. This one is invalid afterwards.
  template <class function>
  auto then(function&& f) {
    return then(task_options{}, std::forward<function>(f));
  }
  template <class function>
  auto then(const task_options& options, function&& f);

 private:
  friend struct detail::access;
  explicit future(reference<detail::state<value>> shared) noexcept : detail::future_base<value>(std::move(shared)) {}
  reference<detail::state<value>> release_state() {
    this->checked();
    return std::move(this->m_state);
  }
};

template <class value>
class shared_future : public detail::future_base<value> {
 public:
  shared_future() = default;
  shared_future(future<value>&& source) noexcept : shared_future(source.share()) {}

  // const value&, or void, or the reference.
  decltype(auto) get() const {
    this->checked().wait();
    if constexpr (std::is_void_v<value>)
      static_cast<void>(this->m_state->get());
    else if constexpr (std::is_reference_v<value>)
      return static_cast<value>(*this->m_state->get());
    else
      return static_cast<const value&>(this->m_state->get());
  }

  decltype(auto) get(const std::stop_token& stop) const {
    this->wait_or_throw(stop);
    return get();
  }
  detail::stoppable_get_awaiter<const shared_future> get_async(std::stop_token stop) const {
    return {*this, this->checked().ready_event(), std::move(stop)};
  }

  // f(shared_future) becomes a task when this future is ready.
  template <class function>
  auto then(function&& f) const {
    return then(task_options{}, std::forward<function>(f));
  }
  template <class function>
  auto then(const task_options& options, function&& f) const;

 private:
  friend class future<value>;
  explicit shared_future(reference<detail::state<value>> shared) noexcept : detail::future_base<value>(std::move(shared)) {}
};

template <class value>
class promise {
 public:
  promise() : m_state(detail::make_state<detail::plain_state<value>>(1u)) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& source) noexcept {
    abandon();
    m_state = std::move(source.m_state);
    m_is_retrieved = source.m_is_retrieved;
    return *this;
  }
  ~promise() { abandon(); }

  // Once.
  future<value> get_future() {
    detail::state<value>& shared = checked();
    if (m_is_retrieved) throw std::future_error(std::future_errc::future_already_retrieved);
    m_is_retrieved = true;
    shared.retain();
    return detail::access::future_of(shared);
  }

  // Once, as set_exception. void: no argument.
  template <class... given>
    requires(sizeof...(given) == (std::is_void_v<value> ? 0 : 1))
  void set_value(given&&... inputs) {
    detail::state<value>& shared = unset();
    if constexpr (std::is_reference_v<value>)
      shared.emplace(&inputs...);
    else
      shared.emplace(std::forward<given>(inputs)...);
    shared.ready_event().complete();
  }
  void set_exception(std::exception_ptr error) {
    detail::state<value>& shared = unset();
    shared.error() = std::move(error);
    shared.ready_event().complete();
  }

 private:
  detail::state<value>& checked() const {
    if (!m_state) detail::no_state();
    return *m_state;
  }
  detail::state<value>& unset() const {
    if (checked().is_ready()) throw std::future_error(std::future_errc::promise_already_satisfied);
    return *m_state;
  }
  void abandon() noexcept {
    if (m_state && !m_state->is_ready())
      set_exception(std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
  }

  reference<detail::plain_state<value>> m_state;
  bool m_is_retrieved = false;
};

template <class value>
future<std::decay_t<value>> make_ready_future(value&& source) {
  auto& node = detail::make_state<detail::plain_state<std::decay_t<value>>>(1u);
  node.emplace(std::forward<value>(source));
  node.ready_event().complete_unshared();
  return detail::access::future_of<std::decay_t<value>>(node);
}

inline future<void> make_ready_future() {
  auto& node = detail::make_state<detail::plain_state<void>>(1u);
  node.emplace();
  node.ready_event().complete_unshared();
  return detail::access::future_of<void>(node);
}

template <class value>
future<value> make_exceptional_future(std::exception_ptr error) {
  auto& node = detail::make_state<detail::plain_state<value>>(1u);
  node.error() = std::move(error);
  node.ready_event().complete_unshared();
  return detail::access::future_of<value>(node);
}

namespace detail {

// What is left is told to `fired` when all awaited are ready; counts one more than there are, until start() is through.
class countdown {
 public:
  explicit countdown(void (*fired)(countdown&) noexcept) noexcept : m_fired(fired) {}

  // nodes[i] waits for states[i]; nodes must live until fired. A null state counts as ready.
  struct node : waiter {
    countdown* owner = nullptr;
  };
  void expect(std::size_t count) noexcept { m_left.store(count + 1, std::memory_order_relaxed); }
  void await(node& entry, state_base* state) noexcept {
    entry.owner = this;
    entry.notify = [](waiter& self) noexcept { static_cast<node&>(self).owner->arrive(); };
    if (state == nullptr || !state->ready_event().add(entry)) arrive();
  }
  void started() noexcept { arrive(); }

 private:
  void arrive() noexcept {
    if (m_left.fetch_sub(1, std::memory_order_acq_rel) == 1) m_fired(*this);
  }
  std::atomic<std::size_t> m_left{1};
  void (*m_fired)(countdown&) noexcept;
};

enum class start_time { immediate, on_notify };

// A task that gives a future its value by call(): comes to a queue at once, where who waits for it may find it, or when it
// is notified.
template <class value, class function, start_time time>
class call_state : public task, public state<value> {
 public:
  template <class from>
  call_state(from&& called, const description& details)
      : call_state(std::forward<from>(called), details, destroy_state<call_state>) {}
  ~call_state() {
    if (!m_is_called) m_call.~function();
  }

 protected:
  template <class from>
  call_state(from&& called, const description& details, state_base::destroyer destroy)
      : state<value>(2, destroy, time == start_time::immediate ? this : nullptr), m_call(std::forward<from>(called)) {
    task::run = run_it;
    set_up(*this, details);
  }

 private:
  static void run_it(task& self, place position) noexcept {
    auto& derived = static_cast<call_state&>(self);
    derived.guarded([&] { derived.emplace_result([&]() -> decltype(auto) { return std::move(derived.m_call)(); }); });
    // Before anyone is told: what the call holds is gone when the future is ready.
    derived.m_is_called = true;
    derived.m_call.~function();
    if (position == place::waiter) return;
    derived.ready_event().complete();
    derived.release();
  }
  union {
    function m_call;
  };
  bool m_is_called = false;
};

// One that comes when `antecedent` is ready.
template <class value, class function>
class continuation_state final : public call_state<value, function, start_time::on_notify>, public waiter {
 public:
  template <class from>
  continuation_state(from&& called, const description& details, std::int32_t hint)
      : call_state<value, function, start_time::on_notify>(std::forward<from>(called), details,
                                                           destroy_state<continuation_state>),
        m_home(home_of_caller()),
        m_hint(hint) {
    notify = [](waiter& self) noexcept {
      auto& derived = static_cast<continuation_state&>(self);
      make_ready(derived, *derived.m_home, derived.m_hint);
    };
  }
  void start(state_base& antecedent) noexcept {
    if (!antecedent.ready_event().add(*this)) notify(*this);
  }

 private:
  runtime* m_home;
  std::int32_t m_hint;
};

template <class antecedent, class function>
auto continue_with(antecedent input, const task_options& options, function&& f) {
  static_assert(std::invocable<std::decay_t<function>, antecedent>,
                "trimtab: then calls f with the ready future. Take future<T> as parameter, or write "
                "then(unwrapping(f)) for an f that takes the value.");
  using value = std::invoke_result_t<std::decay_t<function>, antecedent>;
  auto& awaited = *access::state_of(input);
  const description details = describe<std::decay_t<function>>(options, f);
  auto call = [f = std::decay_t<function>(std::forward<function>(f)), input = std::move(input)]() mutable -> value {
    return std::invoke(std::move(f), std::move(input));
  };
  auto& node = make_state<continuation_state<value, decltype(call)>>(std::move(call), details, options.worker);
  count_made();
  auto result = access::future_of<value>(node);
  node.start(awaited);
  return result;
}

}  // namespace detail

template <class value>
template <class function>
auto future<value>::then(const task_options& options, function&& f) {
  this->checked();
  return detail::continue_with(std::move(*this), options, std::forward<function>(f));
}

template <class value>
template <class function>
auto shared_future<value>::then(const task_options& options, function&& f) const {
  this->checked();
  return detail::continue_with(*this, options, std::forward<function>(f));
}

namespace detail {

// Takes the inner future's value over when both are ready.
template <class value>
class unwrapped_state final : public state<value>, private waiter {
 public:
  explicit unwrapped_state(reference<state<future<value>>> outer) noexcept
      : state<value>(2, destroy_state<unwrapped_state>), m_outer(std::move(outer)) {}

  void start() noexcept {
    notify = [](waiter& self) noexcept { static_cast<unwrapped_state&>(self).outer_is_ready(); };
    if (!m_outer->ready_event().add(*this)) notify(*this);
  }

 private:
  void outer_is_ready() noexcept {
    if (m_outer->error()) return end(m_outer->error());
    m_inner = access::state_of(m_outer->get());
    if (!m_inner) return end(std::make_exception_ptr(std::future_error(std::future_errc::no_state)));
    notify = [](waiter& self) noexcept { static_cast<unwrapped_state&>(self).inner_is_ready(); };
    if (!m_inner->ready_event().add(*this)) notify(*this);
  }
  void inner_is_ready() noexcept {
    if (m_inner->error()) return end(m_inner->error());
    this->guarded([&] { this->emplace(std::move(m_inner->get())); });
    end(this->error());
  }
  void end(std::exception_ptr error) noexcept {
    this->error() = std::move(error);
    m_outer = {};
    m_inner = {};
    this->ready_event().complete();
    this->release();
  }
  reference<state<future<value>>> m_outer;
  reference<state<value>> m_inner;
};

}  // namespace detail

template <class value>
future<value>::future(future<future<value>>&& nested) {
  auto outer = detail::access::state_of(nested);
  nested = {};
  if (!outer) return;
  auto& node = detail::make_state<detail::unwrapped_state<value>>(std::move(outer));
  *this = detail::access::future_of<value>(node);
  node.start();
}

}  // namespace trimtab::tasks

// co_await of futures: what get() gives, without a stack that waits.
#pragma once

#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::tasks {

namespace detail {

template <class awaited>
class future_awaiter : public resumer<> {
 public:
  explicit future_awaiter(awaited& source) : resumer<>(recording::cause::future), m_source(source) {
    if (!source.valid()) no_state();
  }
  bool await_ready() const noexcept { return m_source.ready(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> coroutine) {
    return this->wait_if(coroutine, [&](waiter& self) { return access::state_of(m_source)->ready_event().add(self); });
  }
  decltype(auto) await_resume() const { return m_source.get(); }

 private:
  awaited& m_source;
};

}  // namespace detail

// The future is invalid afterwards.
template <class value>
auto operator co_await(future<value>&& source) {
  return detail::future_awaiter<future<value>>(source);
}
template <class value>
auto operator co_await(future<value>& source) {
  return detail::future_awaiter<future<value>>(source);
}
template <class value>
auto operator co_await(const shared_future<value>& source) {
  return detail::future_awaiter<const shared_future<value>>(source);
}

}  // namespace trimtab::tasks

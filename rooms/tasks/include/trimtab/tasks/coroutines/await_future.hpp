// co_await of futures: what get() gives, without a stack that waits.
#pragma once

#include "trimtab/tasks/futures/future.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"

namespace trimtab::tasks {

namespace detail {

template <class awaited>
class future_awaiter : public resumer<> {
 public:
  explicit future_awaiter(awaited& of) : resumer<>(recording::cause::future), m_of(of) {
    if (!of.valid()) no_state();
  }
  bool await_ready() const noexcept { return m_of.ready(); }
  template <class promise>
  bool await_suspend(std::coroutine_handle<promise> who) {
    return this->wait_if(who, [&](waiter& self) { return access::state_of(m_of)->done().add(self); });
  }
  decltype(auto) await_resume() const { return m_of.get(); }

 private:
  awaited& m_of;
};

}  // namespace detail

// The future is invalid afterwards.
template <class value>
auto operator co_await(future<value>&& of) {
  return detail::future_awaiter<future<value>>(of);
}
template <class value>
auto operator co_await(future<value>& of) {
  return detail::future_awaiter<future<value>>(of);
}
template <class value>
auto operator co_await(const shared_future<value>& of) {
  return detail::future_awaiter<const shared_future<value>>(of);
}

}  // namespace trimtab::tasks

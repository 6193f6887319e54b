// How search algorithms are written: as coroutines that read as the textbook does,
//   const std::vector<double> values = co_await measured(points);
// The search that runs one hands the points out, and resumes it when all are known.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include "trimtab/steer/space.hpp"

namespace trimtab::steer {

class search_sequence {
 public:
  struct promise_type {
    const std::vector<point>* wanted = nullptr;
    const std::vector<double>* values = nullptr;
    std::exception_ptr error;
    search_sequence get_return_object() { return search_sequence(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };
  using handle = std::coroutine_handle<promise_type>;

  search_sequence(search_sequence&& other) noexcept : m_handle(std::exchange(other.m_handle, nullptr)) {}
  search_sequence& operator=(search_sequence&&) = delete;
  ~search_sequence() {
    if (m_handle) m_handle.destroy();
  }

  // Runs to the next points it wants; nullptr: it is done. The values are those of the points wanted before.
  const std::vector<point>* resume(const std::vector<double>* values) {
    promise_type& promise = m_handle.promise();
    promise.values = values;
    promise.wanted = nullptr;
    m_handle.resume();
    if (promise.error) std::rethrow_exception(std::exchange(promise.error, nullptr));
    return m_handle.done() ? nullptr : promise.wanted;
  }

 private:
  explicit search_sequence(handle coroutine) noexcept : m_handle(coroutine) {}
  handle m_handle;
};

// Measures points of the space; their values in the same order. The points must live until then: name them.
class measured {
 public:
  explicit measured(const std::vector<point>& wanted) noexcept : m_wanted(wanted) {}
  bool await_ready() const noexcept { return m_wanted.empty(); }
  void await_suspend(search_sequence::handle waiting) noexcept {
    m_promise = &waiting.promise();
    m_promise->wanted = &m_wanted;
  }
  std::vector<double> await_resume() const {
    return m_promise == nullptr || m_promise->values == nullptr ? std::vector<double>{} : *m_promise->values;
  }

 private:
  const std::vector<point>& m_wanted;
  search_sequence::promise_type* m_promise = nullptr;
};

}  // namespace trimtab::steer

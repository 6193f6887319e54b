// The code of this room as it is, on the machine of interleaving.hpp: compiled once more in a namespace of its own
// (TRIMTAB_INTERLEAVED: one for each file), where std::atomic, stop tokens, fences and system calls mean those of the
// machine.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "interleaving.hpp"

namespace TRIMTAB_INTERLEAVED {
namespace std {

using namespace ::std;
using interleaving::machine;

template <class value>
class atomic {
 public:
  constexpr atomic() noexcept : atomic(value{}) {}
  constexpr atomic(value first) noexcept : m_value(first) {
    if (!::std::is_constant_evaluated() && machine::current() != nullptr) machine::current()->born(this);
  }
  ~atomic() {
    if (machine::current() != nullptr) machine::current()->dies(this);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  value load(memory_order = memory_order_seq_cst) const noexcept {
    return machine::current() == nullptr ? m_value : of_word(machine::current()->load(this, sizeof(value)));
  }
  void store(value next, memory_order order = memory_order_seq_cst) noexcept {
    if (machine::current() == nullptr)
      m_value = next;
    else
      machine::current()->store(this, word_of(next), sizeof(value), order == memory_order_seq_cst);
  }
  value exchange(value next, memory_order = memory_order_seq_cst) noexcept {
    return change([&](value) { return next; });
  }
  value fetch_add(value amount, memory_order = memory_order_seq_cst) noexcept {
    return change([&](value current) { return static_cast<value>(current + amount); });
  }
  value fetch_sub(value subtrahend, memory_order = memory_order_seq_cst) noexcept {
    return change([&](value current) { return static_cast<value>(current - subtrahend); });
  }
  bool compare_exchange_strong(value& expected, value next, memory_order, memory_order) noexcept {
    const value wanted = expected;
    expected = change([&](value current) { return current == wanted ? next : current; });
    return expected == wanted;
  }
  bool compare_exchange_weak(value& expected, value next, memory_order success, memory_order failure) noexcept {
    return compare_exchange_strong(expected, next, success, failure);
  }
  bool compare_exchange_weak(value& expected, value next, memory_order order) noexcept {
    return compare_exchange_strong(expected, next, order, order);
  }

 private:
  static ::std::uint64_t word_of(value desired) noexcept {
    ::std::uint64_t word = 0;
    ::std::memcpy(&word, &desired, sizeof desired);
    return word;
  }
  static value of_word(::std::uint64_t word) noexcept {
    value created;
    ::std::memcpy(&created, &word, sizeof created);
    return created;
  }
  template <class function>
  value change(function&& next) noexcept {
    if (machine::current() != nullptr) machine::current()->exchange(this);
    const value previous = m_value;
    m_value = next(previous);
    return previous;
  }

  value m_value;
};

inline void atomic_thread_fence(memory_order order) noexcept {
  if (machine::current() != nullptr && order == memory_order_seq_cst) machine::current()->fence();
}
inline void atomic_signal_fence(memory_order) noexcept {}

// Stop tokens, as far as they are used. Between two operations of the machine nobody else runs: the list needs no lock.
class stop_callback_base {
 protected:
  friend class stop_source;
  virtual void call() noexcept = 0;
  stop_callback_base* m_next = nullptr;
};

class stop_source;

class stop_token {
 public:
  explicit stop_token(stop_source& source) noexcept : m_source(&source) {}
  bool stop_requested() const noexcept;

 private:
  template <class function>
  friend class stop_callback;
  stop_source* m_source;
};

class stop_source {
 public:
  stop_token get_token() noexcept { return stop_token(*this); }
  bool stop_requested() const noexcept { return m_is_requested.load(); }
  void request_stop() noexcept {
    m_is_requested.store(true);
    while (m_first != nullptr) {
      stop_callback_base* const element = m_first;
      m_first = element->m_next;
      m_called = element;
      element->call();
      m_called = nullptr;
    }
  }

  // False: stop was requested before.
  bool add(stop_callback_base& callback) noexcept {
    if (stop_requested()) return false;
    callback.m_next = m_first;
    m_first = &callback;
    return true;
  }
  // Returns when it is not called and will not be.
  void remove(stop_callback_base& callback) noexcept {
    for (stop_callback_base** link = &m_first; *link != nullptr; link = &(*link)->m_next)
      if (*link == &callback) {
        *link = callback.m_next;
        return;
      }
    while (m_called == &callback) machine::current()->yield();
  }

 private:
  atomic<bool> m_is_requested{false};
  stop_callback_base* m_called = nullptr;
  stop_callback_base* m_first = nullptr;
};

inline bool stop_token::stop_requested() const noexcept { return m_source->stop_requested(); }

template <class function>
class stop_callback final : stop_callback_base {
 public:
  stop_callback(const stop_token& token, function callback) noexcept : m_source(token.m_source), m_callback(callback) {
    if (!m_source->add(*this)) m_callback();
  }
  ~stop_callback() { m_source->remove(*this); }
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;

 private:
  void call() noexcept override { m_callback(); }
  stop_source* m_source;
  function m_callback;
};

}  // namespace std

inline void sched_yield() noexcept {
  if (interleaving::machine::current() != nullptr) interleaving::machine::current()->yield();
}

// futex(word, FUTEX_WAIT_PRIVATE, expected, time, ...), which never takes so long that time is up.
template <class word, class time>
long syscall(int, word* address, int operation, ::std::uint32_t number, time, ::std::nullptr_t, int) noexcept {
  interleaving::machine& score = *interleaving::machine::current();
  if (operation == FUTEX_WAKE_PRIVATE) {
    score.point();
    score.wake(address, number);
    return 0;
  }
  score.exchange(address);
  ::std::uint32_t now = 0;
  ::std::memcpy(&now, address, sizeof now);
  if (now == number) score.sleep(address);
  return 0;
}
// membarrier
inline long syscall(int, int command, int, int) noexcept {
  if (command == MEMBARRIER_CMD_QUERY) return MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  if (interleaving::machine::current() != nullptr) interleaving::machine::current()->fence_all();
  return 0;
}

}  // namespace TRIMTAB_INTERLEAVED

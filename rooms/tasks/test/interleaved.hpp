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
  value fetch_add(value more, memory_order = memory_order_seq_cst) noexcept {
    return change([&](value now) { return static_cast<value>(now + more); });
  }
  value fetch_sub(value less, memory_order = memory_order_seq_cst) noexcept {
    return change([&](value now) { return static_cast<value>(now - less); });
  }
  bool compare_exchange_strong(value& expected, value next, memory_order, memory_order) noexcept {
    const value wanted = expected;
    expected = change([&](value now) { return now == wanted ? next : now; });
    return expected == wanted;
  }
  bool compare_exchange_weak(value& expected, value next, memory_order one, memory_order other) noexcept {
    return compare_exchange_strong(expected, next, one, other);
  }
  bool compare_exchange_weak(value& expected, value next, memory_order both) noexcept {
    return compare_exchange_strong(expected, next, both, both);
  }

 private:
  static ::std::uint64_t word_of(value from) noexcept {
    ::std::uint64_t word = 0;
    ::std::memcpy(&word, &from, sizeof from);
    return word;
  }
  static value of_word(::std::uint64_t word) noexcept {
    value made;
    ::std::memcpy(&made, &word, sizeof made);
    return made;
  }
  template <class function>
  value change(function&& next) noexcept {
    if (machine::current() != nullptr) machine::current()->exchange(this);
    const value before = m_value;
    m_value = next(before);
    return before;
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
  explicit stop_token(stop_source& of) noexcept : m_of(&of) {}
  bool stop_requested() const noexcept;

 private:
  template <class function>
  friend class stop_callback;
  stop_source* m_of;
};

class stop_source {
 public:
  stop_token get_token() noexcept { return stop_token(*this); }
  bool stop_requested() const noexcept { return m_is_requested.load(); }
  void request_stop() noexcept {
    m_is_requested.store(true);
    while (m_first != nullptr) {
      stop_callback_base* const each = m_first;
      m_first = each->m_next;
      m_called = each;
      each->call();
      m_called = nullptr;
    }
  }

  // False: stop was requested before.
  bool add(stop_callback_base& what) noexcept {
    if (stop_requested()) return false;
    what.m_next = m_first;
    m_first = &what;
    return true;
  }
  // Returns when it is not called and will not be.
  void remove(stop_callback_base& what) noexcept {
    for (stop_callback_base** at = &m_first; *at != nullptr; at = &(*at)->m_next)
      if (*at == &what) {
        *at = what.m_next;
        return;
      }
    while (m_called == &what) machine::current()->yield();
  }

 private:
  atomic<bool> m_is_requested{false};
  stop_callback_base* m_called = nullptr;
  stop_callback_base* m_first = nullptr;
};

inline bool stop_token::stop_requested() const noexcept { return m_of->stop_requested(); }

template <class function>
class stop_callback final : stop_callback_base {
 public:
  stop_callback(const stop_token& by, function what) noexcept : m_by(by.m_of), m_what(what) {
    if (!m_by->add(*this)) m_what();
  }
  ~stop_callback() { m_by->remove(*this); }
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;

 private:
  void call() noexcept override { m_what(); }
  stop_source* m_by;
  function m_what;
};

}  // namespace std

inline void sched_yield() noexcept {
  if (interleaving::machine::current() != nullptr) interleaving::machine::current()->yield();
}

// futex(word, FUTEX_WAIT_PRIVATE, expected, time, ...), which never takes so long that time is up.
template <class word, class time>
long syscall(int, word* on, int operation, ::std::uint32_t number, time, ::std::nullptr_t, int) noexcept {
  interleaving::machine& here = *interleaving::machine::current();
  if (operation == FUTEX_WAKE_PRIVATE) {
    here.point();
    here.wake(on, number);
    return 0;
  }
  here.exchange(on);
  ::std::uint32_t now = 0;
  ::std::memcpy(&now, on, sizeof now);
  if (now == number) here.sleep(on);
  return 0;
}
// membarrier
inline long syscall(int, int command, int, int) noexcept {
  if (command == MEMBARRIER_CMD_QUERY) return MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  if (interleaving::machine::current() != nullptr) interleaving::machine::current()->fence_all();
  return 0;
}

}  // namespace TRIMTAB_INTERLEAVED

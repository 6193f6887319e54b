// While it lives, the calling thread takes none of the process's signals: a handler must not find its own thread within a
// lock of ours, and a thread that is made meanwhile takes none at all, so that every signal stays the program's.
#pragma once

#include <pthread.h>
#include <signal.h>

#include "trimtab/base/system_calls.hpp"

namespace trimtab::base {

class signals_held {
 public:
  signals_held() noexcept : m_holds(may_call_system()) {
    if (!m_holds) return;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &m_before);
  }
  ~signals_held() {
    if (m_holds) pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
  }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

 private:
  bool m_holds;
  sigset_t m_before;
};

}  // namespace trimtab::base

#include "trimtab/base/file_size_limit.hpp"

#include <pthread.h>

#include <cerrno>
#include <ctime>

namespace trimtab::base {

namespace {

sigset_t file_size_signal() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

bool is_pending() noexcept {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

file_size_signal_held::file_size_signal_held() noexcept {
  const sigset_t signals = file_size_signal();
  pthread_sigmask(SIG_BLOCK, &signals, &m_before);
  // Only where the program itself blocks the signal can one be pending.
  m_was_pending = sigismember(&m_before, SIGXFSZ) == 1 && is_pending();
}

// The kernel sends this signal to the thread that wrote, so no other thread takes it, and no handler of the program runs.
file_size_signal_held::~file_size_signal_held() {
  const int saved = errno;
  const sigset_t signals = file_size_signal();
  constexpr timespec zero_time{0, 0};
  if (!m_was_pending && is_pending()) (void)sigtimedwait(&signals, nullptr, &zero_time);
  pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
  errno = saved;
}

}  // namespace trimtab::base

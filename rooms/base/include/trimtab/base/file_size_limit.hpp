// The limit on the size of files (RLIMIT_FSIZE, ulimit -f) that the program has. Whoever writes beyond it gets the signal
// SIGXFSZ, which ends most programs. While an object of this class lives, the calling thread takes no such signal for what
// it writes: the write fails with EFBIG, and the signal is thrown away. One that the program caused before stays its own.
#pragma once

#include <signal.h>

namespace trimtab::base {

class file_size_signal_held {
 public:
  file_size_signal_held() noexcept;
  ~file_size_signal_held();
  file_size_signal_held(const file_size_signal_held&) = delete;
  file_size_signal_held& operator=(const file_size_signal_held&) = delete;

 private:
  sigset_t m_before;
  bool m_was_pending = false;
};

}  // namespace trimtab::base

// Ends the wait of a thread, from any thread or a signal handler. It is remembered until a wait takes it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "transport/tcp_socket.hpp"

namespace trimtab::parcels::tcp {

class wake_up {
 public:
  wake_up() noexcept : m_event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  bool is_open() const noexcept { return m_event.is_open(); }
  int get() const noexcept { return m_event.get(); }

  void ring() noexcept {
    const int error = errno;  // the interrupted code's, in a signal handler
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(m_event.get(), &one, sizeof one);
    errno = error;
  }
  void reset() noexcept {
    std::uint64_t rings;
    [[maybe_unused]] const ssize_t received = read(m_event.get(), &rings, sizeof rings);
  }

 private:
  descriptor m_event;
};

}  // namespace trimtab::parcels::tcp

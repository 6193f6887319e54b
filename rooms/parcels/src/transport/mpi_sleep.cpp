#include "transport/mpi_sleep.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace trimtab::parcels::mpi {

namespace {

constexpr std::uint64_t longest_sleep_ns = 3'600'000'000'000;  // a caller's "for ever" must fit into a timespec

void wake_futex(std::atomic<std::uint32_t>& word) noexcept {
  const int before = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = before;
}

}  // namespace

void sleep_word::wake() noexcept {
  if (m_word.exchange(woken) == asleep) wake_futex(m_word);
}

void sleep_word::wake_sleeper() noexcept {
  std::uint32_t expected = asleep;
  if (m_word.compare_exchange_strong(expected, woken)) wake_futex(m_word);
}

bool sleep_word::announce() noexcept {
  if (m_word.exchange(asleep) != woken) return true;
  withdraw();
  return false;
}

void sleep_word::sleep(std::uint64_t ns) noexcept {
  ns = std::min(ns, longest_sleep_ns);
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &m_word, FUTEX_WAIT_PRIVATE, asleep, &limit, nullptr, 0);
  withdraw();
}

}  // namespace trimtab::parcels::mpi

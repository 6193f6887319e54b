#include "transport/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t longest_sleep_ns = std::uint64_t{1} << 59;  // 18 years: fits into any time_t

// Not FUTEX_PRIVATE_FLAG: the word is known by its file, not by its address in one process.
void futex_call(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) noexcept {
  const int saved = errno;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
  errno = saved;
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t ns) noexcept {
  const std::uint64_t bounded = std::min(ns, longest_sleep_ns);
  const timespec timeout{static_cast<time_t>(bounded / 1'000'000'000), static_cast<long>(bounded % 1'000'000'000)};
  futex_call(word, FUTEX_WAIT, expected, &timeout);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept { futex_call(word, FUTEX_WAKE, INT_MAX, nullptr); }

void doorbell::sleep(std::uint64_t ns) noexcept { futex_wait(m_word, asleep, ns); }

void doorbell::end_sleep_of_owner() noexcept {
  std::uint32_t expected = asleep;
  if (m_word.compare_exchange_strong(expected, awake, std::memory_order_release)) futex_wake_all(m_word);
}

void doorbell::wake() noexcept {
  if (m_word.exchange(rung, std::memory_order_release) == asleep) futex_wake_all(m_word);
}

}  // namespace trimtab::parcels

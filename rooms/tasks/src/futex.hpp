// Sleeping in the kernel until a word changes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace trimtab::tasks {

using futex_word = std::atomic<std::uint32_t>;
static_assert(sizeof(futex_word) == 4, "a futex is four bytes");

// Returns when woken, at once if word is not `expected`, or after `ns` (0: never); maybe for no reason. False: time is up.
inline bool futex_wait(futex_word& word, std::uint32_t expected, std::uint64_t ns = 0) noexcept {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, ns == 0 ? nullptr : &limit, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

// The word itself is not read: it may be gone.
inline void futex_wake(futex_word* word, std::uint32_t limit) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, limit, nullptr, nullptr, 0);
}

}  // namespace trimtab::tasks

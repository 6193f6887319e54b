// The threads that the program makes by itself (pthread_create: std::thread, thread pools, other runtimes), the first one
// left out. Any of them may be a lane as well. Nothing allocates; all of it from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::observe::plain_threads {

inline constexpr std::size_t max_threads = 4096;  // more are not seen

// The calling thread begins: the place that it has until it ends. `max_threads`: there is none.
std::size_t begin() noexcept;
// The calling thread ends. What the kernel says of its run delay is kept, unless it lived for less than a millisecond.
void end(std::size_t place) noexcept;

std::size_t count() noexcept;
// Together of those that ended.
std::uint64_t ended_delay_ns() noexcept;
// In the child of a fork, which has none of its parent's.
void after_fork() noexcept;

namespace detail {
std::uint32_t tid_at(std::size_t place) noexcept;
std::size_t places() noexcept;
}  // namespace detail

// Calls action(tid) for each; one that ends meanwhile may or may not be among them.
template <class function>
void for_each(function&& action) noexcept {
  for (std::size_t i = 0, n = detail::places(); i < n; ++i)
    if (const std::uint32_t tid = detail::tid_at(i); tid != 0) action(tid);
}

}  // namespace trimtab::observe::plain_threads

// What the probe of waits in malloc computes, apart from the files that it reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "malloc_arenas.hpp"
#include "trimtab/observe/thread_times.hpp"

namespace trimtab::observe {

// What a thread that is blocked waits for; `nothing`: it runs, or could run.
enum class blocked_by { nothing, arena_lock, memory_map, others };

blocked_by read_blocked_by(const thread_call& call, const malloc_arenas& arenas) noexcept;

struct allocator_waits {
  double arena_ns = 0;        // for the locks of arenas
  double map_ns = 0;          // in changes of the map of memory, or page faults
  std::uint32_t threads = 0;  // most at a time that have waited for arenas
};

// Threads that are looked at now and then. For one thread at a time.
class blocked_threads {
 public:
  static constexpr std::size_t most_threads = 128;  // more are left out

  // At a look: `ready_ns` is the time that the thread has run, or could have run, since it began.
  void add(std::uint32_t tid, std::uint64_t now_ns, std::uint64_t ready_ns, blocked_by reason) noexcept;
  // One more look at a thread that was added in this one.
  void count_again(std::uint32_t tid, blocked_by reason) noexcept;
  // A thread that has been blocked for much longer than looks have seen it blocked; 0: there is none. In turn.
  std::uint32_t next_rarely_seen() noexcept;
  // All threads have been added: who has not is gone.
  void end_look() noexcept;
  // Nobody looks for a while: what has been seen counts, and the time until the next look does not.
  void pause() noexcept;
  allocator_waits total() const noexcept;

 private:
  struct watched_thread {
    std::uint32_t tid = 0;                      // 0: the place is free
    std::uint32_t look = 0;                     // the latest at which it was there
    std::uint64_t looked_ns = 0, ready_ns = 0;  // at the look before
    double blocked_ns = 0;
    std::uint32_t blocked_looks = 0, arena_looks = 0, map_looks = 0;

    void count(blocked_by reason) noexcept;
    bool is_rarely_seen() const noexcept;
    double part_of_blocked(std::uint32_t looks) const noexcept;
  };

  watched_thread* place_of(std::uint32_t tid) noexcept;
  void release(watched_thread& thread) noexcept;

  std::array<watched_thread, most_threads> m_threads{};
  allocator_waits m_gone;  // of threads that are not watched any more
  std::uint32_t m_look = 1;
  std::size_t m_turn = 0;  // place of the thread that was looked at again last
};

}  // namespace trimtab::observe

// What the operating system's scheduler did, as it is kept: 32 bytes for each event.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trimtab::kernel {

using thread_number = std::uint32_t;   // as of gettid; 0: nobody, the CPU is idle
using process_number = std::uint32_t;  // as of getpid; 0: not known

enum class event_kind : std::uint8_t {
  switched = 1,  // a CPU goes on with another thread
  woken = 2,     // a thread can run again, or for the first time
  moved = 3,     // a thread is to run on another CPU
  lost = 4,      // events of a CPU are missing up to here; thread: how many
  forked = 5,    // a thread was made
  named = 6,     // a thread has another name
  ran = 7,       // a thread has run for so long since the kernel said so before
};

struct scheduler_event {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  thread_number thread = 0;   // switched: who leaves the CPU; forked: the new one; named: who
  thread_number other =
      0;  // switched: who gets it; woken: who woke it; forked: who made it; named: the name's number; ran: ns
  process_number process = 0;    // of who runs while the event is recorded: who leaves, wakes, or makes
  thread_number own_number = 0;  // of who runs then, as the recorder's namespace of processes has it, as `process` is
  std::uint16_t cpu = 0;         // where it was recorded
  std::uint16_t target_cpu = 0;  // woken, moved: where the thread is to run
  event_kind kind = event_kind::switched;
  std::uint8_t can_run = 0;  // switched: who leaves could go on: it was preempted, or has yielded
  std::uint16_t reserved = 0;
};
static_assert(sizeof(scheduler_event) == 32 && std::is_trivially_copyable_v<scheduler_event>);

}  // namespace trimtab::kernel

// What threads wait for, and which idle CPUs that explains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trimtab/observe/thread_times.hpp"

namespace trimtab::observe {

enum class thread_state : std::uint8_t {
  runs,          // or is ready to
  for_threads,   // waits in a futex: a lock, a condition, a join
  for_files,     // files and devices of blocks
  for_messages,  // sockets, pipes, terminals, or any of several of them
  for_programs,  // children
  for_time,      // sleeps
  otherwise,
};
inline constexpr std::size_t thread_states = 7;

// Descriptors among the arguments are those of the calling process.
thread_state state_of(const thread_call& call) noexcept;

// Threads by state.
using state_counts = std::array<unsigned, thread_states>;

// How many of the CPUs had no thread to run, by what the threads waited for that could have used them; `no_thread` comes
// from there being fewer threads than CPUs. Where more threads wait than CPUs are idle, each kind has its part of them; but
// waits for threads have none while no thread runs and some wait for something else.
struct idle_cpus {
  double no_thread = 0;
  std::array<double, thread_states> waiting{};  // [runs] is 0
};
idle_cpus idle_cpus_of(const state_counts& threads, double cpus) noexcept;

}  // namespace trimtab::observe

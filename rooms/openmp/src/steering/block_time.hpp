// What a fork does about the block time; see trimtab/openmp/block_time.hpp.
#pragma once

#include "runtimes/runtimes.hpp"
#include "trimtab/openmp/block_time.hpp"

namespace trimtab::openmp {

extern std::atomic<std::uint32_t> block_time_version;  // 0: nothing is to be looked at
extern constinit thread_local std::uint32_t t_block_time_version;

void turn_block_time(const caller& from) noexcept;

// By the thread that is about to fork.
inline void block_time_at_fork(const caller& from) noexcept {
  if (block_time_version.load(std::memory_order_relaxed) != t_block_time_version) [[unlikely]]
    turn_block_time(from);
}

}  // namespace trimtab::openmp

// What a fork does about the block time; see trimtab/openmp/block_time.hpp.
#pragma once

#include "accounting/steering_ports.hpp"
#include "trimtab/openmp/block_time.hpp"

namespace trimtab::openmp {

void turn_block_time(const caller& from) noexcept;

}  // namespace trimtab::openmp

#include "accounting/steering_ports.hpp"

#include "accounting/region_mode.hpp"

namespace trimtab::openmp {

constinit steering_ports the_steering_ports{};
constinit std::array<shared_rule, region_places> region_rules{};
std::atomic<std::uint64_t> steering_epoch{1};
constinit thread_local std::uint32_t t_block_time_version = 0;
constinit thread_local steered_part t_steered_part{};

}  // namespace trimtab::openmp

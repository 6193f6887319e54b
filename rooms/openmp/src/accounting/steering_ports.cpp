#include "accounting/steering_ports.hpp"

#include "accounting/region_mode.hpp"

namespace trimtab::openmp {

constinit steering_ports the_steering_ports{};
constinit std::array<shared_rule, region_places> region_rules{};
std::atomic<std::uint64_t> steering_epoch{1};
constinit thread_local std::uint32_t t_block_time_version = 0;
constinit thread_local bool t_is_in_steered_team = false;

void end_steered_part_slowly() noexcept {
  if (const loop_port* const port = loop_port_now(); port != nullptr) port->part_ends();
  t_is_in_steered_team = false;
}

}  // namespace trimtab::openmp

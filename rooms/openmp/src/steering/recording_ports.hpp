// The steering side of what recording calls (accounting/steering_ports.hpp) and reads (accounting/region_mode.hpp).
#pragma once

#include <atomic>
#include <cstddef>

namespace trimtab::openmp {

// Something has been switched on or off, or regions are watched in another way: gives recording the tables that it now
// calls, and each region its rule. Any thread; neither locks nor allocates. Whoever comes last has seen what all others
// changed.
void update_recording() noexcept;
// The rule of the regions at one place.
void update_rule(std::size_t place) noexcept;

// Something that the steering side switches on and off, and that recording must learn of.
class steering_switch {
 public:
  bool load(std::memory_order = std::memory_order_seq_cst) const noexcept { return m_is_on.load(std::memory_order_relaxed); }
  // Whatever was prepared before is visible to whoever finds a table.
  void store(bool is_enabled, std::memory_order = std::memory_order_seq_cst) noexcept {
    m_is_on.store(is_enabled);
    update_recording();
  }

 private:
  std::atomic<bool> m_is_on{false};
};

}  // namespace trimtab::openmp

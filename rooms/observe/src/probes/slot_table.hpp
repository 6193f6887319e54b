// What a probe keeps for each lane. Memory is taken for 256 lanes at a time, as they come: most programs have few, and room
// for all that there may be would count against a limit of the address space. Not for several threads at once: probes use it
// under their lock.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

// slot: all of its bytes 0 is its first value. Slots are never moved, and their memory stays until the process ends.
template <class slot>
class slot_table {
 public:
  // nullptr: none was made for this lane.
  slot* find(std::uint32_t lane) noexcept {
    slot* const block = lane < recorder::max_lanes ? m_blocks[lane / block_lanes] : nullptr;
    return block != nullptr ? block + lane % block_lanes : nullptr;
  }

  // The lane's slot, maybe a new one. nullptr: there is no memory, or no lane of this number can be.
  slot* make(std::uint32_t lane) noexcept {
    if (lane >= recorder::max_lanes) return nullptr;
    slot*& block = m_blocks[lane / block_lanes];
    if (block == nullptr) {
      void* const memory =
          mmap(nullptr, block_lanes * sizeof(slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return nullptr;
      block = static_cast<slot*>(memory);
    }
    return block + lane % block_lanes;
  }

  // Calls action(slot) for each slot of the first `count` lanes, also for those that no lane has used.
  template <class function>
  void for_each(std::uint32_t count, function&& action) noexcept {
    for (std::uint32_t lane = 0; lane < count; ++lane)
      if (slot* const known_slot = find(lane); known_slot != nullptr) action(*known_slot);
  }

 private:
  static constexpr std::uint32_t block_lanes = 256;
  static_assert(recorder::max_lanes % block_lanes == 0);
  slot* m_blocks[recorder::max_lanes / block_lanes] = {};
};

}  // namespace trimtab::observe

// A store-load fence between processes that is free on the side that runs often; see tasks/core/asymmetric_fence.hpp, which
// is for the threads of one process. heavy() interrupts the running threads of all processes that have registered, and costs
// some microseconds. Where one member of a job cannot have that, all use ordinary fences on both sides.
#pragma once

#include <atomic>

#include "trimtab/tasks/core/asymmetric_fence.hpp"

namespace trimtab::parcels {

class process_fence {
 public:
  // Makes this process one that others' heavy fences interrupt. False: the kernel does not offer it.
  static bool register_process() noexcept;

  // is_asymmetric: all members have registered.
  explicit process_fence(bool is_asymmetric) noexcept : m_is_asymmetric(is_asymmetric) {}
  void light() const noexcept {
    if (m_is_asymmetric) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      tasks::full_fence();
  }
  void heavy() const noexcept;

 private:
  bool m_is_asymmetric;
};

}  // namespace trimtab::parcels

// A store-load fence that is free on the side that runs often. Where thread A does {store x; light_fence(); load y} and
// thread B does {store y; heavy_fence(); load x}, at least one of them sees what the other stored.
// heavy_fence interrupts the process's running threads (membarrier, some microseconds); where the kernel does not offer
// that, both sides are ordinary fences. See D. Dice, H. Huang and M. Yang, "Asymmetric Dekker Synchronization" (Sun, 2001).
#pragma once

#include <atomic>

namespace trimtab::tasks {

namespace detail {
extern const bool has_membarrier;
}

// Of which ThreadSanitizer, as g++ has it, does not know: nothing may depend on it that is not atomic as well.
inline void full_fence() noexcept {
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#elif defined(__SANITIZE_THREAD__) && defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void light_fence() noexcept {
  if (detail::has_membarrier) [[likely]]
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    full_fence();
}

void heavy_fence() noexcept;

}  // namespace trimtab::tasks

// A moment's rest in a loop that waits for another processor.
#pragma once

namespace trimtab::tasks {

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace trimtab::tasks

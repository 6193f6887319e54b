// Whether this library may still make system calls of its own. A program may install a filter of system calls (seccomp)
// that ends it at the first call that the filter does not expect, and such a call may be one of ours. From then on we only
// write to memory that is mapped already. Any thread may ask at any time; nothing here allocates.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::base {

inline std::atomic<bool> system_calls_are_forbidden{false};
inline std::atomic<std::uint32_t> open_system_call_sections{0};  // of all threads

inline bool may_call_system() noexcept { return !system_calls_are_forbidden.load(std::memory_order_relaxed); }

// While it lives, nobody's forbid_system_calls comes to an end: several calls can be made in a row if `is_permitted`.
// Sections nest. The sequentially consistent order pairs with forbid_system_calls: either it sees this section, or this
// section sees that calls are forbidden.
class system_call_section {
 public:
  system_call_section() noexcept {
    open_system_call_sections.fetch_add(1, std::memory_order_seq_cst);
    m_is_permitted = !system_calls_are_forbidden.load(std::memory_order_seq_cst);
  }
  ~system_call_section() { open_system_call_sections.fetch_sub(1, std::memory_order_release); }
  system_call_section(const system_call_section&) = delete;
  system_call_section& operator=(const system_call_section&) = delete;

  bool is_permitted() const noexcept { return m_is_permitted; }

 private:
  bool m_is_permitted;
};

// Before the filter is installed, when all threads of ours have ended. Waits until other threads have left their sections,
// but not longer than a second. Not within a section.
void forbid_system_calls() noexcept;

// The kernel did not accept the filter.
inline void permit_system_calls() noexcept { system_calls_are_forbidden.store(false, std::memory_order_seq_cst); }

// In a forked child, where the other threads and their sections do not exist.
inline void forget_system_call_sections() noexcept { open_system_call_sections.store(0, std::memory_order_relaxed); }

}  // namespace trimtab::base

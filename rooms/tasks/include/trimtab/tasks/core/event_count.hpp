// Where workers sleep if they find nothing to do. A worker that goes to sleep counts itself first and then looks once more.
// A thread that adds work looks for sleepers afterwards. Both are in one total order, so one of the two sees the other.
//
// D. P. Reed and R. K. Kanodia, "Synchronization with Eventcounts and Sequencers" (CACM 22(2), 1979). The steps prepare,
// cancel and wait are those of D. Vyukov's event count, which Eigen and Folly use.
#pragma once

#include <atomic>
#include <cstdint>

namespace trimtab::tasks {

class event_count {
 public:
  // prepare(), look once more, then wait(key) or cancel().
  std::uint32_t prepare() noexcept {
    m_sleepers.fetch_add(1, std::memory_order_seq_cst);
    return m_epoch.load(std::memory_order_seq_cst);
  }
  void cancel() noexcept { m_sleepers.fetch_sub(1, std::memory_order_relaxed); }
  // False: `ns` nanoseconds have passed (0: no limit) without a wake-up.
  bool wait(std::uint32_t key, std::uint64_t ns = 0) noexcept;

  // To be called after work was made visible by a seq_cst operation. Costs a load if nobody sleeps.
  void wake_one() noexcept {
    if (m_sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(1);
  }
  void wake_all() noexcept {
    if (m_sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(~0u >> 1);
  }

  std::uint32_t sleepers() const noexcept { return m_sleepers.load(std::memory_order_seq_cst); }

 private:
  void wake(std::uint32_t limit) noexcept;

  alignas(64) std::atomic<std::uint32_t> m_epoch{0};
  std::atomic<std::uint32_t> m_sleepers{0};
};

}  // namespace trimtab::tasks

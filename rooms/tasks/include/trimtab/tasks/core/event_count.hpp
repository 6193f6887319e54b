// Where workers sleep that find nothing to do. Who goes to sleep says so first and then looks once more; who makes work
// looks for sleepers afterwards: with both in one total order, one of the two sees the other.
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
  // False: `ns` have passed (0: no limit) and nobody woke us.
  bool wait(std::uint32_t key, std::uint64_t ns = 0) noexcept;

  // After work was made visible by a seq_cst operation. Costs a load when nobody sleeps.
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

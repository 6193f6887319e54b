// What the ring of a lane held, for readers of a process that was killed: the region that the lane had forked and the part
// that it was in, both of which may have begun before the oldest event that the ring still holds.
#include <atomic>

#include "trimtab/observe/lane.hpp"

namespace trimtab::observe {

namespace {

// Larger rings are those of traces, and reading one would take too long at once.
constexpr std::uint64_t most_summarized_events = std::uint64_t{1} << 16;

class ring_summary {
 public:
  ring_summary(const lane_header& head, std::uint32_t part_depth) noexcept
      : m_region{head.region_ticks, head.region_subject, 0, 0, head.region_instance, 0},
        m_part{head.part_ticks, head.part_subject, 0, 0, head.part_instance, 0},
        m_part_wait(head.part_wait),
        m_part_depth(part_depth) {}

  void add(const event& next) noexcept {
    switch (static_cast<event_kind>(next.kind)) {
      case event_kind::region_begin:
        if (next.arg == 1) m_region = next;
        break;
      case event_kind::region_end:
        if (next.arg == 1) m_region = {};
        break;
      case event_kind::work_begin:
        begin_part(next);
        break;
      case event_kind::work_end:
        end_part();
        break;
      case event_kind::wait:
        if (m_part_depth != 0 && is_in_part(next)) m_part_wait += next.a;
        break;
      case event_kind::thread_begin:
        *this = {};
        break;
      default:
        break;
    }
  }

  // A process may be killed at any store: the times, which say whether the rest means anything, are 0 meanwhile.
  void write(lane_header& head, std::uint64_t events) const noexcept {
    std::atomic_ref(head.region_ticks).store(0, std::memory_order_relaxed);
    std::atomic_ref(head.part_ticks).store(0, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    head.summarized_events = events;
    head.region_instance = m_region.a;
    head.region_subject = m_region.subject;
    head.part_instance = m_part.a;
    head.part_subject = m_part.subject;
    head.part_wait = m_part_wait;
    std::atomic_ref(head.region_ticks).store(m_region.ticks, std::memory_order_release);
    std::atomic_ref(head.part_ticks).store(m_part.ticks, std::memory_order_release);
  }

  std::uint32_t part_depth() const noexcept { return m_part_depth; }

 private:
  ring_summary() = default;

  void begin_part(const event& begin) noexcept {
    if (m_part_depth++ != 0) return;
    m_part = begin;
    m_part_wait = 0;
  }
  void end_part() noexcept {
    if (m_part_depth == 0 || --m_part_depth != 0) return;
    m_part = {};
    m_part_wait = 0;
  }
  // A part whose region is not known has those waits that are in no part within it.
  bool is_in_part(const event& wait) const noexcept { return m_part.a == 0 ? m_part_depth == 1 : wait.b == m_part.a; }

  event m_region{}, m_part{};
  std::uint64_t m_part_wait = 0;
  std::uint32_t m_part_depth = 0;
};

}  // namespace

void lane::summarize_ring() noexcept {
  const auto events = static_cast<std::uint64_t>(m_limit - m_events);
  if (events > most_summarized_events) return;
  ring_summary summary(*m_header, m_part_depth);
  for (const event* next = m_events; next != m_limit; ++next) summary.add(*next);
  summary.write(*m_header, m_written);
  m_part_depth = summary.part_depth();
}

}  // namespace trimtab::observe

// What the allocator does with memory that the program frees, and huge pages, as knobs of a subject: from the time on that
// the process is seen to fault again and again on memory that it gave back. By the steering thread; what is decided is done
// in its next look (add_to), not where the knob turns: that may be a thread which was interrupted in malloc.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "c_library_memory.hpp"
#include "huge_page_advice.hpp"
#include "trimtab/observe/cpu_usage.hpp"
#include "trimtab/observe/page_cost.hpp"
#include "trimtab/steer/knob_source.hpp"

namespace trimtab::session {

class memory_steering final : public steer::knob_source {
 public:
  // most_bytes: that the process may have because of the knobs; 0: a fifth above its peak before.
  memory_steering(steer::knob_registry& registry, std::uint64_t most_bytes)
      : m_registry(registry), m_most_bytes(most_bytes) {}
  void add_to(steer::snapshot& now) override;
  bool is_at_rest(double) const noexcept override { return !m_is_known || m_in_force.load(std::memory_order_relaxed) == 0; }
  void conclude() override;

 private:
  struct reading {
    double time_s = 0;
    observe::cpu_usage cpu;
    std::uint64_t regions = 0;
    double resident_bytes = 0;
  };
  struct window {
    double seconds = 0, regions = 0, cpu_s = 0, program_s = 0, kernel_share = 0, refault_share = 0;
  };
  reading read(double now_s) const;
  window window_between(const reading& begin, const reading& latest);
  bool is_window_over(const reading& latest, steer::decision_number under) const;
  bool make_known(steer::snapshot& now);
  void carry_out(const reading& latest);
  bool watch(const reading& latest);
  void give_up(steer::snapshot& now, const char* reason);

  steer::knob_registry& m_registry;
  const std::uint64_t m_most_bytes;
  std::optional<c_library_memory> m_allocator;
  huge_page_advice m_advice;
  std::optional<observe::page_cost> m_page_cost;
  steer::subject_id m_id = 0;
  bool m_is_known = false, m_is_ignored = false;
  bool m_has_huge_pages = false;  // as a knob
  bool m_counts_regions = false;  // the objective: time from region to region, otherwise CPU time for the program's own
  // As decided, from any thread; and as it is.
  std::atomic<bool> m_wants_keep{false}, m_wants_huge{false};
  std::atomic<steer::decision_number> m_in_force{0};
  bool m_keeps = false, m_is_huge = false;
  // The window under way, or what follows a change and does not count.
  std::optional<reading> m_begin;
  steer::decision_number m_under = 0;
  bool m_is_settling = false;
  unsigned m_bad = 0;                       // windows in a row, until it is known
  double m_windows = 0;                     // that have ended since
  double m_seen_s = 0, m_seen_regions = 0;  // of the bad windows
  // Peak memory, and what it was before the knobs turned.
  double m_peak_before = 0, m_rise = 0, m_checked_s = 0;
  bool m_is_over = false;
};

}  // namespace trimtab::session

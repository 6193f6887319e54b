// What the allocator of a process does with memory that the program frees: a rule for the knobs `keep` and `huge-pages` of a
// subject that has them. Where a share of `refault_share` of the CPU time goes into page faults on memory that was given
// back before, in `bad_windows` windows in a row, `keep` is tried, and after it `huge-pages`: where `keep` was kept, or
// where the faults go on. A trial is kept if the program's work takes less time with it (`faster`), and fewer CPU time goes
// into the kernel; after `most_windows` also if it takes a little less time (`barely_faster`). Otherwise it is undone, and
// tried again after twice as long each time. As soon as the process has more memory than it may have, both knobs are turned
// back, and stay so.
//
// Figures, of the subject: refault_share, kernel_share, memory_rise, is_memory_over, and the number of the window that they
// are of. Measurements: the time for the same work.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

namespace knobs {
inline constexpr std::string_view keep_memory = "keep", huge_pages = "huge-pages";
}  // namespace knobs

namespace figures {
inline constexpr std::string_view refault_share = "refault_share";  // of the CPU time: faults on memory that was given back
inline constexpr std::string_view kernel_share = "kernel_share";    // of the CPU time, in the kernel
// The peak of resident memory above the peak before a knob was turned, as a share of that; 0 while none is turned.
inline constexpr std::string_view memory_rise = "memory_rise";
inline constexpr std::string_view is_memory_over = "is_memory_over";  // 1: it is above what the process may have
}  // namespace figures

struct memory_policy_options {
  double period_s = 0.02;
  double refault_share = 0.03;
  unsigned bad_windows = 2;
  std::size_t windows = 5, most_windows = 15;  // of a trial; `windows` also of what it is compared with
  double faster = 0.97, barely_faster = 0.99, slower = 1.03;
  double patience_s = 10;  // a trial in which too little was measured is undone after that
  double pause_s = 2, most_pause_s = 60;
};

class memory_policy : public policy {
 public:
  explicit memory_policy(memory_policy_options options = {}) : m_options(options) {}
  std::string_view name() const noexcept override { return "memory"; }
  cadence when() const override { return {m_options.period_s, {}}; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct knob_state {
    bool is_concluded = false;  // a trial of it has come to an end
    double pause_s = 0, paused_until_s = 0;
  };
  struct level {
    std::vector<double> times, kernel_shares;  // of the latest windows
  };
  struct state {
    double window = -1;
    unsigned bad = 0;  // windows in a row
    level before, trial;
    std::array<knob_state, 2> knobs;
    std::uint32_t place_of_keep = 0;
    std::optional<std::uint32_t> place_of_huge;
    std::size_t tried = 0;  // which of them
    double tried_since_s = 0;
    decision_number latest_trial = 0;
    bool is_on_trial = false;
    bool is_given_up = false;  // it took too much memory
  };
  struct window {
    double time_s, refault_share, rise;
  };
  std::optional<proposal> propose(const subject_view& subject, double time_s);
  std::optional<proposal> turn_back(state& state_of_subject, const subject_view& subject, double rise);
  std::optional<proposal> try_next(state& state_of_subject, const subject_view& subject, const window& now) const;
  std::optional<proposal> end_trial(state& state_of_subject, const window& now) const;
  void collect(state& state_of_subject, const subject_view& subject) const;
  void pause(state& state_of_subject, double time_s) const;

  memory_policy_options m_options;
  std::map<subject_id, state> m_states;
};

}  // namespace trimtab::steer

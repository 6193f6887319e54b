// Members of a team that share a CPU may go on to beside other programs: each that waits gives the CPU to the next,
// the CPU has as many threads that want it as any other, and nothing moves one of them away. A rule for the knob `moved` of
// a subject that has one: how often a thread was moved to a CPU that has none of the program's. Nothing else is changed: the
// thread may run where it might before, and is moved again where the kernel puts them together again. Figures, of the
// subject: sharing_threads, and the number of the look that it is of.
#pragma once

#include <map>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

namespace knobs {
inline constexpr std::string_view moved = "moved";
}  // namespace knobs

namespace figures {
// That ran on the CPU of another one, while a CPU of the program had none. Told only where there are as many CPUs as
// threads.
inline constexpr std::string_view sharing_threads = "sharing_threads";
}  // namespace figures

class placement : public policy {
 public:
  // Between two moves: where a thread was moved to no good, that costs next to nothing.
  static constexpr double pause_s = 0.1;
  std::string_view name() const noexcept override { return "placement"; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct state {
    double look = -1;
    double paused_until_s = 0;
  };
  std::map<subject_id, state> m_states;
};

}  // namespace trimtab::steer

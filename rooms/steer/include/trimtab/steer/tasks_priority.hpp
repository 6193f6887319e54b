// The priority of kinds of task as a knob: a kind is raised if idle workers waited for a chain in which a task of that kind
// could have run and had no worker (the initiating tasks of idle regions that were eligible early, as published). One kind
// at a time, that with the largest loss first, and kept only if fresh pairs prove that the program is faster.
//
// The evidence comes from whoever offers the knob: from a trace (idle regions of `trimtab report`), or from the runtime.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/value_proof.hpp"

namespace trimtab::steer {

namespace figures {
// Of the workers' time: idle, until a task came whose chain of last inputs has a task of this kind that waited for a worker.
inline constexpr std::string_view delayed_share = "delayed_share";
}  // namespace figures

struct priority_options {
  std::uint64_t seed = 1;
  double alpha = 0.05;  // false acceptances of one group of kinds, of all its proofs together
  double least_gain = 0.02;
  double least_share = 0.03;  // of the workers' time; less is not worth a trial
};

// For subjects with a knob of that name, whose values are in the order of categories: "low", "normal", "high". A subject is
// a kind of task; those whose tasks run beside each other are one group, and each is measured by the time of the whole.
class initiating_priority : public policy {
 public:
  static constexpr std::string_view knob = "priority";
  static constexpr std::string_view raised = "high";

  explicit initiating_priority(priority_options options = {}) : m_options(options), m_random(options.seed) {}
  std::string_view name() const noexcept override { return "initiating-priority"; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  struct state_of_group {
    std::map<subject_id, std::set<knob_value>> beaten;
    unsigned proofs = 0;
    std::optional<std::pair<subject_id, value_proof>> under_way;
  };
  static std::uint64_t group_of(const subject_view& subject) noexcept;
  void go_on(state_of_group& group, const view& now, std::vector<proposal>& out);
  void begin(state_of_group& group, std::uint64_t number, const view& now);

  priority_options m_options;
  random_source m_random;
  std::map<std::uint64_t, state_of_group> m_groups;
};

}  // namespace trimtab::steer

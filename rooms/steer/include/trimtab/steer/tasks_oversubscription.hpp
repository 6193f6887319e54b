// More workers than CPUs, some of which wait for a CPU while others wait for work: as many as there are CPUs. A rule, for
// the beginning, where a search would have to pay for many measurements to prove what is seen at once. Where all have work,
// or sleep in their tasks, whoever waits for a CPU loses nothing, and they are left alone.
#pragma once

#include <set>
#include <string>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

struct oversubscription_options {
  double least_delay = 0.1;     // share of the workers' time in which they waited for a CPU
  double least_workless = 0.1;  // in which they had no task
  double least_on_cpu = 0.9;  // in which they had a CPU, of that in which they did not wait; else they sleep in their tasks
};

// For subjects with a knob of that name; each once, so that a search has the last word.
class oversubscription : public policy {
 public:
  explicit oversubscription(oversubscription_options options = {}, std::string_view knob = "workers")
      : m_options(options), m_knob(knob) {}
  std::string_view name() const noexcept override { return "oversubscription"; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  oversubscription_options m_options;
  std::string m_knob;
  std::set<subject_id> m_done;
};

}  // namespace trimtab::steer

// What policies that fit threads to the machine have in common. How many threads a machine has room for is a matter of the
// whole process: there is one count, and every subject with a knob "threads" has so many, as far as its domain and its own
// maximum go. That is what the program itself had, or what the history set before this policy first saw the subject; never
// more than the domain's largest. Subjects that another policy turns, or that need a consent that there is not, are left
// alone. The knob may have another name, where subjects call it otherwise. While it is switched off, every subject has what
// it had before this policy, and nothing is judged.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::steer {

class thread_fitting : public policy {
 public:
  // is_on: until the figure `fitting` says otherwise.
  explicit thread_fitting(std::string_view knob, bool is_enabled) : m_knob(knob), m_is_on_at_first(is_enabled) {}
  bool is_search() const noexcept override { return false; }  // rules, not trials: they cost no budget
  void observe(const view& now, std::vector<proposal>& out) final;

 protected:
  // Now. The count is one that some subject can have, and so are its neighbours: without one there is no way further.
  struct situation {
    double time_s = 0;
    knob_value threads = 1;
    knob_value fewest = 1;
    std::optional<knob_value> fewer, more;
    const view& seen;
    // The process's figure, or else the first that a subject with the knob tells. Below 0 or no number: as not told.
    std::optional<double> figure_of(std::string_view name) const;
    std::vector<figure> evidence(std::initializer_list<std::string_view> names) const;  // those that are told
    std::span<const subject_view* const> subjects;
  };
  struct verdict {
    knob_value threads = 1;  // rounded down to a count that there is
    std::string reason;
    std::vector<figure> evidence;
    knob_value barrier_members = 0, trial_members = 0, threads_if_bad = 0;
  };
  // What is to be from now on; nothing: as it is.
  virtual std::optional<verdict> judge(const situation& now) = 0;
  // It is on again: what was counted before counts no more.
  virtual void begin_anew(double now_s) = 0;

 private:
  struct fitted;  // a subject with the knob
  std::vector<fitted> subjects_of(const view& now);

  bool is_on(const view& now) const;

  const std::string m_knob;
  const bool m_is_on_at_first;
  bool m_was_on = true;
  std::map<subject_id, knob_value> m_most;
  std::optional<knob_value> m_count;
  verdict m_latest;
};

}  // namespace trimtab::steer

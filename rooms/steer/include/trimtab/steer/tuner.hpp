// The policy that searches better values for the knobs of subjects, one subject at a time, the most promising first; what
// has been gained makes room for others that promise more than what is left:
//   watch     until the incumbent's level is known and it is worth it
//   explore   what the search asks for, against the incumbent, a few measurements each
//   prove     the best on fresh pairs (trial.hpp); kept, or undone
//   settled   now and then the program's own values are tried against what was kept; when the level drifts, all begins anew,
//             ever later where it does so again and again; and where nothing was found what was diagnosed may still be there
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "trimtab/steer/policy.hpp"
#include "trimtab/steer/search.hpp"

namespace trimtab::steer {

struct tuner_options {
  search_kind kind = search_kind::diagnosed;
  std::uint64_t seed = 1;
  std::uint32_t most_evaluations = 0;  // of one search; 0: what suits the search
  double alpha = 0.05;                 // false acceptances of one subject in a run, of all its proofs together
  double least_gain = 0.02;
  double early_gain = 0.1;     // a candidate that seems to save so much is proved before the search goes on
  std::uint32_t baseline = 5;  // measurements of the incumbent before anything
  std::uint32_t per_candidate = 3;
  std::uint32_t per_reference = 2;  // of the incumbent, between two candidates
  double clearly_worse = 1.5;       // a candidate this much above the incumbent is not measured further
  double least_share = 0.01;        // of the run's time: a subject with less is left alone
  double least_changes = 20;        // and one whose measurements are shorter than so many changes of its knobs
  double recheck_s = 30;            // doubles each time
  double retry_s = 1;               // after a search that found nothing, while the diagnosis is the same; likewise
  double drift = 0.25;
  double drift_after_s = 2;  // since it settled; doubles each time
  double patience_s = 2;     // a subject that is not measured so long makes room for others
  // Points of a subject's space that mean the same; may be empty.
  std::function<std::function<point(point)>(const subject_info&)> same_as;
  // Subjects that a rule has; may be empty.
  std::function<bool(const subject_info&)> is_left_to_rules;
};

class tuning_session;

class tuner : public policy {
 public:
  explicit tuner(tuner_options options = {}, std::string name = "tuner");
  ~tuner() override;
  std::string_view name() const noexcept override { return m_name; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  const subject_view* choose(const view& now);
  // Of those that are not under way, if it promises more than that share of the run's time.
  const subject_view* most_promising(const view& now, double share) const;

  tuner_options m_options;
  std::string m_name;
  std::map<subject_id, std::unique_ptr<tuning_session>> m_sessions;
  tuning_session* m_active = nullptr;
};

}  // namespace trimtab::steer

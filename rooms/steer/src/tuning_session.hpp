// One subject on its way through the tuner: watched, explored, proved, settled. It goes in legs: certain values are to be in
// force until so many measurements were taken under them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/diagnosis.hpp"
#include "trimtab/steer/random.hpp"
#include "trimtab/steer/trial.hpp"
#include "trimtab/steer/tuner.hpp"

namespace trimtab::steer {

class tuning_session {
 public:
  tuning_session(const subject_info& subject, const tuner_options& options);

  // What was measured since; for all sessions, active or not.
  void take_in(const subject_view& subject, const view& now);
  // Share of the run's time that might be gained; 0: leave it alone, for now.
  double promise(const subject_view& subject, const view& now) const;
  void begin(const subject_view& subject, const view& now);
  // Goes on, while it is the active one.
  void go_on(const subject_view& subject, const view& now, std::vector<proposal>& out);
  bool is_under_way() const noexcept { return m_phase != phase::watching && m_phase != phase::settled; }
  bool is_stalled(const view& now) const noexcept { return now.time_s - m_last_measured_s > m_options.patience_s; }
  // Share of the run's time that it may still take after what it has kept; nothing: it has kept nothing, or tries more.
  std::optional<double> left() const noexcept;
  // Makes room for others: back to the incumbent, and from the beginning when its turn comes again.
  void interrupt(const subject_view& subject, std::vector<proposal>& out);

 private:
  enum class phase { watching, exploring, proving, keeping, settled };
  using values = std::vector<knob_value>;

  proposal propose(const subject_view& subject, outcome result_kind, std::string reason) const;
  void begin_leg(values wanted, std::uint32_t measurements);
  bool is_leg_over() const;
  void cut_short() noexcept;
  bool has_drifted(const view& now) const;
  double promise_of_search(const subject_view& subject, const view& now) const;
  void next_leg(const subject_view& subject, const view& now);
  void explore_on(const subject_view& subject, const view& now);
  void told(const subject_view& subject);
  bool prove_best(const subject_view& subject, double least_gain);
  void begin_proof(values candidate);
  void next_pair();
  void prove_on(const view& now);
  void settle(const view& now);
  std::string why() const;

  const tuner_options& m_options;
  const search_kind m_kind;
  random_source m_random;
  phase m_phase = phase::watching;
  std::uint32_t m_settle = 0;  // measurements after a change that do not count
  double m_change_s = 0;
  double m_seconds = 0;  // in all measurements
  double m_last_measured_s = 0;
  values m_accepted;             // as take_in has seen it, which comes first
  std::uint32_t m_measured = 0;  // since the incumbent is what it is
  level m_incumbent;

  values m_wanted;  // the leg: these values, so many measurements, taken under this decision
  std::uint32_t m_leg_measurements = 0;
  std::uint32_t m_to_skip = 0;
  bool m_is_in_force = false;
  bool m_is_proposed = false;          // as a trial
  decision_number m_trial_before = 0;  // the one before it
  decision_number m_leg_under = 0;
  std::vector<double> m_taken;

  std::unique_ptr<search> m_search;
  std::vector<finding> m_findings;
  std::uint32_t m_generation = 0;
  point m_asked;
  bool m_is_candidate_leg = false;
  double m_scale = 1;  // level of the incumbent, as a share of that when the search began
  std::set<values> m_disproved;
  std::optional<double> m_left;

  paired_trial m_trial;
  values m_candidate;
  std::uint32_t m_proofs = 0;
  bool m_is_candidate_first = false;
  double m_first = 0;

  double m_settled_s = 0;
  double m_settled_level = 0;
  double m_recheck_s = 0, m_drift_after_s = 0, m_retry_s = 0;
  bool m_has_found_nothing = false;
  bool m_is_rechecking = false;
};

}  // namespace trimtab::steer

// Feeds policies with snapshots, checks what they propose and turns it into decisions. Pure but for the clock that the
// caller may pass in to find slow policies. One thread steps it; running() may be asked from any.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "trimtab/steer/budget.hpp"
#include "trimtab/steer/event_source.hpp"
#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

struct engine_options {
  double budget_share = 0.03;     // of the run's time
  double allowance_s = 0;         // to begin with
  double expected_excess = 0.25;  // a trial begins when there is budget for a measurement that takes this share longer
  bool has_consent = false;       // to knobs that need it
  double policy_limit_s = 0.1;    // a call that takes longer disables its policy
  std::function<double()> clock;  // seconds; none: no policy is found slow, as in replays
};

struct policy_report {
  std::string name;
  bool is_enabled = true;
  std::string why_disabled;
  std::uint64_t calls = 0;
  std::uint64_t decisions = 0;
  std::uint64_t refused = 0;
};

// Proposals refused, and measurements left out.
struct engine_counts {
  std::uint64_t gone = 0, others = 0, consent = 0, budget = 0, stuck = 0, nothing_to_do = 0, bad_measurements = 0,
                beside_trials = 0;
};

class engine {
 public:
  explicit engine(engine_options options = {});

  void add(std::unique_ptr<policy> added);  // all before the first step
  // What is decided now, in the order in which it is to be applied. Valid until the next call.
  const std::vector<decision>& step(const snapshot& now);

  std::vector<policy_report> reports() const;
  const engine_counts& counts() const noexcept { return m_counts; }
  const budget& spent() const noexcept { return m_budget; }
  // Policies that the clock found slow in the last step: a log has them in its snapshot's `overdue`, so that a replay knows.
  const std::vector<std::string>& slow_ones() const noexcept { return m_slow; }
  decision_number latest() const noexcept { return m_last_number; }  // of all decisions so far
  // The policy that is being called; nullptr: none. Of a string that lives as long as the engine.
  const char* running() const noexcept { return m_running.load(std::memory_order_acquire); }
  // nullptr: not known, or gone.
  const subject_info* subject(subject_id id) const noexcept;

 private:
  struct entry {
    subject_info info;
    std::vector<knob_value> in_force, accepted, accepted_before;
    decision_number since = 0, last_trial = 0;
    int holder = -1;  // place of the policy that turns its knobs
    bool is_stuck = false;
    level incumbent;
    std::vector<figure> figures;
    bool on_trial() const { return in_force != accepted; }
  };
  struct member {
    std::unique_ptr<policy> rule;
    policy_report report;
    cadence when;
    double next_s = 0;
    std::map<subject_id, std::vector<measurement>> measured;
    std::vector<event> events;
    std::vector<subject_id> gone;
  };
  enum class judgement { good, refused, nonsense };

  void take_in(const snapshot& now);
  bool appear(const subject_info& info);  // false: it is known, or makes no sense
  void measure(const subject_state& state);
  void take_back(decision_number number);
  bool is_due(const member& policy_member) const;
  void call(int place, const snapshot& now);
  void carry_out(int place, const proposal& wanted);
  judgement judge(int place, const proposal& wanted, std::string& reason);
  judgement judge_changes(int place, const entry& target, const proposal& wanted, std::string& reason);
  double cost_of(const entry& target, const std::vector<change>& changes) const;
  void disable(int place, std::string reason);
  void undo(entry& target, std::string reason, int place);
  bool is_guarded(int place) const;
  bool is_manual(int place) const;
  // What the user sets is measured beside no trial: those on the subject and on its group are undone.
  void take_over(entry& target);
  // Another of its group is on trial. A policy that is not guarded may have several of a group on trial together.
  bool is_beside_trial(const entry& candidate, int place) const;
  void undo_trials(const std::string& reason, int place);  // place -1: of all policies
  decision& decide(entry& target, outcome result_kind, std::vector<change> changes, int place, std::string reason);

  static constexpr std::size_t most_kept = 4096;  // measurements a policy did not come to see
  engine_options m_options;
  budget m_budget;
  engine_counts m_counts;
  std::vector<member> m_members;
  std::map<subject_id, entry> m_subjects;
  std::set<subject_id> m_gone;
  std::map<decision_number, int> m_trials;  // the latest, and the place of their policy
  event_source m_event_source;
  std::vector<event> m_events;  // of this step: told, and what follows from the snapshot
  std::vector<decision> m_decisions;
  std::vector<std::string> m_slow;
  double m_time_s = 0;
  bool m_is_last = false;
  decision_number m_last_number = 0;
  std::atomic<const char*> m_running{nullptr};
};

}  // namespace trimtab::steer

// The scheduling policy of runtimes as a knob. Queues and workers' loops are compiled for a policy, so it takes effect when
// a runtime is made: of those of this process that follow one another in the same place each is a measurement for the next,
// and what is kept is for the next process, by the history.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "outside.hpp"
#include "trimtab/runtime/known_settings.hpp"
#include "trimtab/runtime/program_record.hpp"
#include "trimtab/runtime/tuning.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/knob_source.hpp"
#include "tuned_work.hpp"

namespace trimtab::task_steering {

// What was seen of a runtime that ends.
struct life {
  std::vector<steer::figure> figures;  // what advised_policies asks for
  std::vector<work_total> work;        // empty: none that says how fast it was
};

// How it is wanted.
struct scheduler_request {
  tasks::policy first = tasks::policy::local_priority;
  bool is_searched = false;  // in this process, too; otherwise only what earlier runs found is set
  bool is_printed = false;
  std::uint64_t seed = 1;
  std::function<void(const steer::decision&, const steer::subject_info&, bool)> told = {};
};

// That a runtime of so many workers may have: where some are the same, or need more workers, they are not offered.
std::vector<std::string> offered_policies(std::uint32_t workers, tasks::policy first);

// Of runtimes that follow one another: of those that live at the same time the n-th, with so many workers, begun alike. Any
// thread, one at a time.
class scheduler_knob final : public steer::knob_source {
 public:
  scheduler_knob(std::uint32_t place, std::uint32_t workers, const scheduler_request& request,
                 const known_settings& settings);

  tasks::policy in_force() const;
  steer::decision_number under() const;
  // A runtime is there, with this number in the run's records.
  void begun(std::uint32_t recorded);
  // It was made under this decision, and has ended: what is best for the next one.
  void ended(steer::decision_number decision_number, const life& ended_life);
  // The process ends: what is on trial is undone.
  void close();

 private:
  steer::recording_head built(const known_settings& settings) const;
  std::unique_ptr<steer::policy> make(const steer::policy_description& description, const steer::policy_context& context);
  void add_to(steer::snapshot& now) override;  // under the lock, by step
  void step(bool is_last);
  std::optional<steer::measurement> measured(steer::decision_number decision_number, const std::vector<work_total>& work);
  void tell(const std::vector<steer::figure>& figures);
  void flush();

  mutable std::mutex m_lock;  // of all that follows
  const scheduler_request m_how;
  const std::string m_key;
  const steer::subject_info m_info;
  const std::uint64_t m_begin_ns;
  steer::engine m_steering;
  steer::board m_knobs;
  steer::knob_registry m_registry;
  bool m_is_offered = false;
  std::optional<steer::subject_state> m_ended;  // of the runtime that has just ended
  steer::knob_value m_in_force;
  steer::decision_number m_under = 0;
  const std::uint32_t m_number;  // of its engine
  program_record m_record;
  const steer::history_policy* m_history = nullptr;
  steer::outside_policy* m_outside = nullptr;  // nullptr: there is none
  std::size_t m_misfits_told = 0;
  bool m_is_recorded = false, m_is_over = false;
  std::string m_error;
  const steer::recording_head m_built;
  std::unique_ptr<steer::recording_writer> m_snapshots;  // nullptr: they are not to be written, or not yet
  // Until a runtime is there that the records can name.
  struct decided {
    steer::decision what;
    bool is_applied;
  };
  struct made_step {
    steer::snapshot told;
    steer::decision_number latest;
    std::vector<decided> made;
    std::optional<std::string> answer, fault;  // of a policy in another process
  };
  std::vector<made_step> m_unwritten;
  std::map<std::string, double> m_first_unit_s;  // of work, by its name
  std::map<std::string, std::string> m_told;     // facts, as they were told last
};

}  // namespace trimtab::task_steering

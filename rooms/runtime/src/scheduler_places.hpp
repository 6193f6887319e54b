// Which runtimes follow one another in the same place: those that live at the same time have the least numbers that are
// free.
#pragma once

#include <cstdint>
#include <memory>

#include "scheduler_knob.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::task_steering {

// A runtime's hold on its place, until it has ended.
class scheduler_lease {
 public:
  scheduler_lease(std::uint32_t place, std::shared_ptr<scheduler_knob> knob);
  ~scheduler_lease();
  scheduler_lease(const scheduler_lease&) = delete;
  scheduler_lease& operator=(const scheduler_lease&) = delete;
  tasks::policy policy() const noexcept { return m_policy; }
  void begun(std::uint32_t recorded) { m_knob->begun(recorded); }
  void ended(const life& ended_life) { m_knob->ended(m_under, ended_life); }

 private:
  std::uint32_t m_place;
  std::shared_ptr<scheduler_knob> m_knob;
  steer::decision_number m_under;
  tasks::policy m_policy;
};

// For runtime_options::choose_policy.
tasks::policy choose_scheduler(const scheduler_request& request, std::uint32_t workers);
// What was chosen last on this thread, once: of the runtime that is being made. nullptr: its policy was not left open.
std::unique_ptr<scheduler_lease> chosen_scheduler() noexcept;

// For runtimes of which nothing else is tuned: sets what is known, and tells what might be better.
tasks::runtime_options with_known_scheduler(tasks::runtime_options requested_options);

}  // namespace trimtab::task_steering

// The cap of workers as a knob source: the cap, and figures of the process for policies that fit it.
#pragma once

#include <memory>
#include <string>

#include "cap_figures.hpp"
#include "trimtab/steer/knob_source.hpp"
#include "worker_cap.hpp"

namespace trimtab::task_steering {

class cap_source final : public steer::knob_source {
 public:
  struct options {
    bool is_turned = false;  // otherwise it is only measured
    bool is_fitted = false;  // to what others leave of the machine
    std::string key;         // how later runs find it; "": not at all
  };
  cap_source(tasks::runtime& owner_runtime, worker_cap& cap, steer::knob_registry& registry, options requested_options);
  void add_to(steer::snapshot& now) override;
  // The program has set the cap itself: it was left to the program.
  bool is_gone() const noexcept { return m_is_gone; }

 private:
  void offer(steer::snapshot& now);

  tasks::runtime& m_of;
  worker_cap& m_cap;
  steer::knob_registry& m_registry;
  const options m_how;
  std::unique_ptr<cap_figures> m_figures;  // nullptr: nobody asks for them
  bool m_is_offered = false, m_is_gone = false;
};

}  // namespace trimtab::task_steering

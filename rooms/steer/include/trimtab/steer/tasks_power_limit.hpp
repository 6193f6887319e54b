// The cap of workers under a limit of power, as published for miniGhost under 200 W (33 % less power for 12 % more time):
// fewer workers while the meter is above the limit, more while there is room for what one takes: one at first, then as many
// as there is room for. A rule: it changes the cap at once. Where there is no meter it does nothing.
#pragma once

#include <cstdint>

#include "trimtab/steer/policy.hpp"

namespace trimtab::steer {

struct power_limit_options {
  double limit_w = 0;
  double period_s = 0.3;  // of each mean: meters are slow, and so is heat
  double room = 0.02;     // of the limit, that stays free when workers are added
};

class power_limit : public policy {
 public:
  explicit power_limit(power_limit_options options, std::string_view knob = "workers") : m_options(options), m_knob(knob) {}
  std::string_view name() const noexcept override { return "power-limit"; }
  bool is_search() const noexcept override { return false; }
  void observe(const view& now, std::vector<proposal>& out) override;

 private:
  void period(const subject_view& subject, std::uint32_t place, double watts, std::vector<proposal>& out);

  power_limit_options m_options;
  std::string m_knob;
  double m_time_s = -1, m_seconds = 0, m_joules = 0;
  double m_worker_w = 0;  // what one worker takes, as far as changes have shown; 0: not known
  knob_value m_before = 0;
  double m_watts_before = 0;
};

}  // namespace trimtab::steer

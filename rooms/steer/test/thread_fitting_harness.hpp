// A process with a knob "threads" and a policy that fits it, told figures by the test.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "scenario.hpp"
#include "trimtab/steer/thread_fitting/asat_v1.hpp"
#include "trimtab/steer/thread_fitting/asat_v1_timed.hpp"
#include "trimtab/steer/thread_fitting/asat_v2.hpp"
#include "trimtab/steer/thread_fitting/asat_v2_reset.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"
#include "trimtab/steer/thread_fitting/fit.hpp"

namespace trimtab::steer::testing {

using told = std::initializer_list<std::pair<std::string_view, double>>;

class fitted_process {
 public:
  explicit fitted_process(std::unique_ptr<policy> fits, engine_options options = {}) : steering(std::move(options)) {
    steering.add(std::move(fits));
  }

  void add(const subject_info& info) {
    knobs.add(info, [](std::uint32_t, knob_value) { return true; });
    m_appeared.push_back(info);
  }
  void add_process(knob_value threads, bool has_barrier = false) {
    subject_info info{1, "process", {numbers("threads", 1, threads, threads)}};
    if (has_barrier) info.knobs.push_back(numbers("barrier_members", 0, threads, 0));
    add(info);
  }

  // One look, a tenth of a second after the one before.
  knob_value look(told figures) {
    snapshot now;
    for (const auto& [name, value] : figures) now.figures.push_back({std::string(name), value});
    return look(std::move(now));
  }
  knob_value look(snapshot now) {
    time_s += 0.1;
    now.time_s = time_s;
    now.appeared = std::exchange(m_appeared, {});
    for (const decision& decision_made : steering.step(now)) {
      EXPECT_TRUE(knobs.apply(decision_made));
      log.push_back(decision_made);
    }
    return threads();
  }
  knob_value looks(int times, told figures) {
    for (int i = 0; i < times; ++i) look(figures);
    return threads();
  }
  knob_value threads(subject_id id = 1) const {
    const std::vector<knob_value> values = knobs.values(id);
    return values.empty() ? 0 : values.front();
  }

  engine steering;
  board knobs;
  std::vector<decision> log;
  double time_s = 0;

 private:
  std::vector<subject_info> m_appeared;
};

}  // namespace trimtab::steer::testing

// What tuning makes small: the time that work takes, its energy, or their product.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "trimtab/base/clock.hpp"
#include "trimtab/runtime/tuning.hpp"

namespace trimtab::task_steering {

// Joules since some time in the past; none: no meter, or it may not be read. A function that several may copy.
using energy_source = std::function<std::optional<double>()>;

// What a piece of work has taken.
struct resources {
  double seconds = 0;
  double joules = 0;  // of the whole machine meanwhile; 0 where only time counts
  resources& operator+=(const resources& other) noexcept {
    seconds += other.seconds;
    joules += other.joules;
    return *this;
  }
};

class cost_meter {
 public:
  cost_meter() = default;
  // Without a meter that can be read, time counts whatever is wanted.
  cost_meter(tuning_objective wanted, energy_source energy_j);

  tuning_objective objective() const noexcept { return m_objective; }
  // Joules taken so far; 0 where only time counts. A reading is good for a millisecond: meters are renewed no more often.
  // Any thread.
  double joules() noexcept;
  // Less is better.
  double cost_of_unit(const resources& used, double units) const noexcept;
  // Shorter pieces of work than this many seconds are measured together: meters are renewed once in a millisecond, and the
  // CPU time of running threads, on which a simulated one rests, at some systems once in ten.
  double shortest_s() const noexcept { return m_objective == tuning_objective::time ? 1e-4 : 0.1; }

 private:
  tuning_objective m_objective = tuning_objective::time;
  energy_source m_energy_j;
  std::mutex m_lock;  // of the following
  base::ticks m_read_at = 0;
  double m_joules = 0;
};

}  // namespace trimtab::task_steering

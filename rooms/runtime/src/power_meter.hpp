// Power of the machine's processors, from what they have taken so far.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trimtab::task_steering {

// Energy of all packages, joules since it was made; none: there is no meter, or it may not be read. Meters that begin anew
// (at max_energy_range_uj) go on here.
class package_energy {
 public:
  explicit package_energy(const std::string& root = "");
  std::optional<double> operator()();

 private:
  struct meter {
    std::string path;
    std::uint64_t range_uj, last_uj;
  };
  std::vector<meter> m_meters;
  double m_joules = 0;
};

// One thread at a time.
class power_meter {
 public:
  explicit power_meter(std::function<std::optional<double>()> energy_j = {});

  bool is_there() const noexcept { return m_is_there; }
  // Over the last fifth of a second or so; none: no meter, or not known yet.
  std::optional<double> watts();

 private:
  std::function<std::optional<double>()> m_energy_j;
  std::chrono::steady_clock::time_point m_at;
  double m_joules = 0;
  bool m_is_there = false;
  std::optional<double> m_watts;
};

}  // namespace trimtab::task_steering

// Power of the machine's processors, from what they have taken so far.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

// A power meter for machines that have none: so many watts whatever happens, and so many more for each CPU that this process
// keeps busy.
struct simulated_power {
  double idle_w = 20, cpu_w = 10;
  std::string text() const;  // "simulated: 20 W, and 10 W for each busy CPU"
};
// "idle_w=20,cpu_w=10", each of them optional. Throws std::invalid_argument.
simulated_power simulated_power_from(std::string_view tunables);

// Energy of that, joules since it was made.
class simulated_energy {
 public:
  explicit simulated_energy(simulated_power power);
  std::optional<double> operator()() const;

 private:
  simulated_power m_power;
  std::chrono::steady_clock::time_point m_began;
  double m_cpu_s_at_begin;
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

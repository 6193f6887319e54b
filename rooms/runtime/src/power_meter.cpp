#include "power_meter.hpp"

#include <time.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "trimtab/base/read_file.hpp"

namespace trimtab::task_steering {

namespace {

constexpr unsigned most_packages = 32;
constexpr double period_s = 0.2;

std::optional<std::uint64_t> number_in(const std::string& path) {
  char text[64];
  if (base::read_file(path.c_str(), text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

double cpu_seconds() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Nothing: it is no number of watts.
std::optional<double> watts_in(std::string_view text) {
  double watts = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), watts);
  const bool is_number = error == std::errc() && stopped == text.data() + text.size();
  return is_number && watts >= 0 && watts <= 1e6 ? std::optional(watts) : std::nullopt;
}

}  // namespace

std::string simulated_power::text() const {
  char words[96];
  std::snprintf(words, sizeof words, "simulated: %g W, and %g W for each busy CPU", idle_w, cpu_w);
  return words;
}

simulated_power simulated_power_from(std::string_view tunables) {
  simulated_power power;
  for (std::string_view left = tunables; !left.empty();) {
    const std::string_view next = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), next.size() + 1));
    const std::size_t equals = std::min(next.find('='), next.size());
    const std::string_view name = next.substr(0, equals);
    const std::optional<double> watts = watts_in(next.substr(std::min(equals + 1, next.size())));
    if (!watts || (name != "idle_w" && name != "cpu_w"))
      throw std::invalid_argument("trimtab: option power-meter: \"" + std::string(next) +
                                  "\": expected idle_w=WATTS or cpu_w=WATTS, 0 to 1000000");
    (name == "idle_w" ? power.idle_w : power.cpu_w) = *watts;
  }
  return power;
}

simulated_energy::simulated_energy(simulated_power power)
    : m_power(power), m_began(std::chrono::steady_clock::now()), m_cpu_s_at_begin(cpu_seconds()) {}

std::optional<double> simulated_energy::operator()() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
  return m_power.idle_w * seconds + m_power.cpu_w * (cpu_seconds() - m_cpu_s_at_begin);
}

package_energy::package_energy(const std::string& root) {
  for (unsigned package = 0; package < most_packages; ++package) {
    const std::string zone = root + "/sys/class/powercap/intel-rapl:" + std::to_string(package);
    const auto now = number_in(zone + "/energy_uj");
    if (!now) break;  // they are numbered without gaps
    m_meters.push_back({zone + "/energy_uj", number_in(zone + "/max_energy_range_uj").value_or(~std::uint64_t{0}), *now});
  }
}

std::optional<double> package_energy::operator()() {
  if (m_meters.empty()) return std::nullopt;
  for (meter& each : m_meters) {
    const auto now = number_in(each.path);
    if (!now) continue;
    // Once round at most: the range is minutes at full power.
    const std::uint64_t used = *now >= each.last_uj ? *now - each.last_uj : *now + (each.range_uj - each.last_uj);
    m_joules += static_cast<double>(used) * 1e-6;
    each.last_uj = *now;
  }
  return m_joules;
}

power_meter::power_meter(std::function<std::optional<double>()> energy_j)
    : m_energy_j(std::move(energy_j)), m_at(std::chrono::steady_clock::now()) {
  const std::optional<double> now = m_energy_j ? m_energy_j() : std::nullopt;
  m_is_there = now.has_value();
  m_joules = now.value_or(0);
}

std::optional<double> power_meter::watts() {
  if (!m_is_there) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - m_at).count();
  if (seconds < period_s) return m_watts;
  if (const std::optional<double> joules = m_energy_j()) {
    m_watts = (*joules - m_joules) / seconds;
    m_joules = *joules;
    m_at = now;
  }
  return m_watts;
}

}  // namespace trimtab::task_steering

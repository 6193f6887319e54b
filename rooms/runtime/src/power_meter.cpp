#include "power_meter.hpp"

#include <cstdint>
#include <cstdlib>

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

}  // namespace

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

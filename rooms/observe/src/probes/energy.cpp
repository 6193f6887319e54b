// Energy of each processor package (Intel, and AMD from Linux 5.8 on) and of its memory, through powercap.
// The meters count up to max_energy_range_uj and begin again at 0.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instances.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

namespace {

constexpr unsigned most_packages = 32;
constexpr unsigned most_parts = 4;  // core, uncore, dram, psys
constexpr unsigned most_meters = 64;

struct meter {
  char path[384];
  std::uint32_t counter;
  std::uint64_t range_uj;
  std::uint64_t last_uj;
  double total_j;
};
constinit meter meters[most_meters] = {};

bool read_number(const char* path, std::uint64_t& value, int& error) noexcept {
  char text[64];
  const long length = read_file(path, text, sizeof text);
  error = length < 0 ? static_cast<int>(-length) : 0;
  if (length <= 0 || text[0] < '0' || text[0] > '9') return false;
  value = std::strtoull(text, nullptr, 10);
  return true;
}

class energy_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_count = 0;
    m_is_forbidden = false;
    for (unsigned package = 0; package < most_packages; ++package) {
      char zone[320];
      std::snprintf(zone, sizeof zone, "%s/sys/class/powercap/intel-rapl:%u", root, package);
      if (!add(to, zone, "")) break;  // they are numbered without gaps
      for (unsigned part = 0; part < most_parts; ++part) {
        char name[32];
        std::snprintf(zone, sizeof zone, "%s/sys/class/powercap/intel-rapl:%u:%u", root, package, part);
        std::snprintf(name, sizeof name, "%u ", package);
        if (!add(to, zone, name)) break;
      }
    }
    if (m_count == 0 && m_is_forbidden)
      to.unavailable("energy", "only root may read /sys/class/powercap/*/energy_uj",
                     "sudo chmod a+r /sys/class/powercap/*/energy_uj");
    else if (m_count == 0)
      to.unavailable("energy", "there is no power meter in /sys/class/powercap",
                     "run on the bare machine, with the module intel_rapl_msr");
    return m_count > 0;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    for (unsigned i = 0; i < m_count; ++i) {
      meter& meter_entry = meters[i];
      std::uint64_t now = 0;
      int error = 0;
      if (!read_number(meter_entry.path, now, error)) continue;
      // Once round at most: the range is minutes at full power, the period a fraction of a second.
      const std::uint64_t used =
          now >= meter_entry.last_uj ? now - meter_entry.last_uj : now + (meter_entry.range_uj - meter_entry.last_uj);
      meter_entry.total_j += static_cast<double>(used) * 1e-6;
      meter_entry.last_uj = now;
      to.sample(meter_entry.counter, no_lane, meter_entry.total_j, at);
    }
  }

 private:
  // False when there is no such zone. prefix: of the part's package, in its name.
  bool add(recorder& to, const char* zone, const char* prefix) noexcept {
    char path[384];
    char label[64];
    int error = 0;
    std::snprintf(path, sizeof path, "%s/name", zone);
    if (read_file(path, label, sizeof label) <= 0) return false;
    *strchrnul(label, '\n') = '\0';
    if (m_count == most_meters) return true;
    meter& added = meters[m_count];
    added = {};
    std::snprintf(added.path, sizeof added.path, "%s/energy_uj", zone);
    if (!read_number(added.path, added.last_uj, error)) {
      m_is_forbidden = m_is_forbidden || error == EACCES || error == EPERM;
      return true;
    }
    std::snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
    if (!read_number(path, added.range_uj, error)) added.range_uj = ~std::uint64_t{0};
    char name[128];
    std::snprintf(name, sizeof name, "energy %s%s", prefix, label);
    added.counter = to.add_counter(name, "J", added.path, true);
    m_count += 1;
    return true;
  }

  unsigned m_count = 0;
  bool m_is_forbidden = false;
};

constinit energy_probe the_probe;

}  // namespace

probe* energy_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

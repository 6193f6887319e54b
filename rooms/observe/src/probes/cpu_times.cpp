// Apart from the probe, so that who reads this does not need a recorder.
#include <cstdlib>
#include <cstring>

#include "cpu.hpp"

namespace trimtab::observe {

cpu_times cpu_times_in(const char* stat, const base::cpu_mask& cpus) noexcept {
  cpu_times times;
  for (const char* line = stat; std::strncmp(line, "cpu", 3) == 0;) {
    const char* const end = strchrnul(line, '\n');
    if (line[3] >= '0' && line[3] <= '9') {
      char* at = nullptr;
      const unsigned long cpu = std::strtoul(line + 3, &at, 10);
      std::uint64_t fields[8] = {};  // user nice system idle iowait irq softirq steal
      for (std::uint64_t& field : fields) field = at < end ? std::strtoull(at, &at, 10) : 0;
      if (cpus.has(cpu)) {
        times.is_valid = true;
        times.busy += fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
        times.stolen += fields[7];
        times.idle += fields[3] + fields[4];
      }
    }
    if (*end == '\0') break;
    line = end + 1;
  }
  return times;
}

}  // namespace trimtab::observe

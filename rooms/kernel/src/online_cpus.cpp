#include "online_cpus.hpp"

#include <charconv>

#include "trimtab/base/read_file.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::kernel {

std::vector<std::uint16_t> read_cpu_list(std::string_view text) {
  std::vector<std::uint16_t> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint16_t first = 0;
    auto [stopped, error] = std::from_chars(at, end, first);
    std::uint16_t last = first;
    if (error == std::errc() && stopped != end && *stopped == '-') {
      const auto behind = std::from_chars(stopped + 1, end, last);
      stopped = behind.ptr;
      error = behind.ec;
    }
    if (error != std::errc() || last < first || last >= base::cpu_mask::most) break;
    for (std::uint32_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<std::uint16_t>(cpu));
    if (stopped == end || *stopped != ',') break;
    at = stopped + 1;
  }
  return cpus;
}

std::vector<std::uint16_t> online_cpus(const std::string& root) {
  char text[4096];
  const long bytes = base::read_file((root + "/sys/devices/system/cpu/online").c_str(), text, sizeof text);
  std::vector<std::uint16_t> cpus;
  if (bytes > 0) cpus = read_cpu_list({text, static_cast<std::size_t>(bytes)});
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

}  // namespace trimtab::kernel

#include "trimtab/parcels/servers/server_place.hpp"

#include <algorithm>
#include <cmath>

namespace trimtab::parcels {
namespace {

void add_cpu(base::cpu_mask& cpus, std::size_t cpu) {
  constexpr std::size_t width = 8 * sizeof(unsigned long);
  cpus.bits[cpu / width] |= 1ul << cpu % width;
}

base::cpu_mask first_cpus(const base::cpu_mask& allowed, std::uint32_t count) {
  base::cpu_mask first;
  for (std::size_t cpu = 0; cpu < base::cpu_mask::most && count > 0; ++cpu)
    if (allowed.has(cpu)) {
      add_cpu(first, cpu);
      --count;
    }
  return first;
}

}  // namespace

std::vector<server_place> places_for_servers(const base::cpu_mask& allowed, const base::cpu_mask& workers,
                                             std::span<const std::uint32_t> domain_of_cpu) {
  struct ranked_place {
    std::uint32_t rank;  // within its domain
    server_place place;
  };
  std::vector<ranked_place> ranked;
  std::vector<std::uint32_t> cpus_of_domain;
  for (std::uint32_t cpu = 0; cpu < base::cpu_mask::most; ++cpu) {
    if (!allowed.has(cpu) || workers.has(cpu)) continue;
    const std::uint32_t domain = cpu < domain_of_cpu.size() ? domain_of_cpu[cpu] : 0;
    if (domain >= cpus_of_domain.size()) cpus_of_domain.resize(domain + 1);
    ranked.push_back({cpus_of_domain[domain]++, {cpu, domain}});
  }
  std::ranges::stable_sort(ranked, [](const ranked_place& one, const ranked_place& other) {
    return one.rank != other.rank ? one.rank < other.rank : one.place.domain < other.place.domain;
  });
  std::vector<server_place> places;
  places.reserve(ranked.size());
  for (const ranked_place& entry : ranked) places.push_back(entry.place);
  return places;
}

std::vector<server_place> places_beside_workers(std::uint32_t workers, const char* root) {
  const base::cpu_mask allowed = base::allowed_cpus();
  std::vector<std::uint32_t> domains(base::cpu_mask::most);
  base::read_memory_domains(domains.data(), domains.size(), root);
  std::vector<server_place> places = places_for_servers(allowed, first_cpus(allowed, workers), domains);
  // A quota of CPU time may leave less than the affinity says.
  const double rest = std::floor(base::read_cpu_limits(root).available) - static_cast<double>(workers);
  places.resize(std::min(places.size(), static_cast<std::size_t>(std::max(0.0, rest))));
  return places;
}

}  // namespace trimtab::parcels

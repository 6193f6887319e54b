#include <cstdio>
#include <cstdlib>

#include "trimtab/base/read_file.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::base {

namespace {

// "0-3,8,10-11" into numbers; stops at what is no such list.
template <class function>
void each_of_list(const char* text, function&& call) {
  for (const char* at = text; *at >= '0' && *at <= '9';) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 10);
    unsigned long last = first;
    if (*end == '-') last = std::strtoul(end + 1, &end, 10);
    for (unsigned long cpu = first; cpu <= last && cpu < cpu_mask::most; ++cpu) call(cpu);
    if (*end != ',') return;
    at = end + 1;
  }
}

}  // namespace

namespace {

// Calls visit(node, list of its CPUs) for each node that has CPUs; false: the kernel does not say which nodes there are.
template <class function>
bool for_each_node(const char* root, function&& visit) {
  char path[512], nodes[4096], list[16384];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/node/online", root);
  if (read_file(path, nodes, sizeof nodes) <= 0) return false;
  each_of_list(nodes, [&](unsigned long node) {
    std::snprintf(path, sizeof path, "%s/sys/devices/system/node/node%lu/cpulist", root, node);
    // Memory without CPUs (high-bandwidth, persistent, attached by CXL) is no domain that a worker can be in.
    if (read_file(path, list, sizeof list) > 0 && list[0] >= '0' && list[0] <= '9') visit(node, list);
  });
  return true;
}

}  // namespace

std::uint32_t read_memory_domains(std::uint32_t* domain_of_cpu, std::size_t cpus, const char* root) noexcept {
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) domain_of_cpu[cpu] = 0;
  std::uint32_t number = 0;
  for_each_node(root, [&](unsigned long, const char* list) {
    each_of_list(list, [&](unsigned long cpu) {
      if (cpu < cpus) domain_of_cpu[cpu] = number;
    });
    number += 1;
  });
  return number == 0 ? 1 : number;
}

std::uint32_t read_nodes_of_cpus(std::int16_t* node_of_cpu, std::size_t cpus, const char* root) noexcept {
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) node_of_cpu[cpu] = -1;
  std::uint32_t count = 0;
  for_each_node(root, [&](unsigned long node, const char* list) {
    each_of_list(list, [&](unsigned long cpu) {
      if (cpu < cpus) node_of_cpu[cpu] = static_cast<std::int16_t>(node);
    });
    count += 1;
  });
  return count;
}

}  // namespace trimtab::base

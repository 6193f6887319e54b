// Memory that the program holds, memory that the machine has left, page faults and what they cost, time in the kernel.
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "instances.hpp"
#include "page_nodes.hpp"
#include "proc_file.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/observe/cpu_usage.hpp"
#include "trimtab/observe/page_cost.hpp"
#include "trimtab/observe/thread_times.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::observe {

namespace {

class memory_probe final : public probe {
 public:
  // Figures survive exec: what the pid did before this program is not its own.
  void attached() noexcept override { m_before = usage_of_process(); }

  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    m_page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
    double resident = 0, available = 0;
    const bool has_resident = read_resident(resident);
    const bool has_available = read_available(available);
    if (has_resident)
      m_resident = to.add_counter("resident memory", "B", "/proc/self/statm", false);
    else
      to.unavailable("resident memory", "/proc/self/statm cannot be read", "mount /proc");
    if (has_available)
      m_available = to.add_counter("memory available", "B", "/proc/meminfo", false);
    else
      to.unavailable("memory available", "/proc/meminfo does not say", "use a kernel from 3.14 on, with /proc mounted");
    add_usage(to);
    m_peak = to.add_counter(words::counter_name::peak_memory, "B", "/proc/self/status", false);
    m_huge = to.add_counter(words::counter_name::huge_pages, "B", "/proc/self/smaps_rollup", false);
    // Known by name before the first sample of them: others may read along.
    m_fault_cost = to.add_counter(words::counter_name::page_fault_cost, "s", "measured", false);
    m_release_cost = to.add_counter(words::counter_name::page_release_cost, "s", "measured", false);
    m_is_cost_known = false;
    m_samples = 0;
    m_has_nodes = false;
    start_nodes(to);
    const base::ticks at = base::now();
    m_levels_read = at;
    if (has_resident) to.sample(m_resident, no_lane, resident, at);
    if (has_available) to.sample(m_available, no_lane, available, at);
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    sample_levels(to, at);
    sample_usage(to, at);
    if (m_has_nodes && m_samples++ % samples_between_nodes == first_of_nodes) look_at_nodes(to, at);
  }

  void count_short(recorder& to, base::ticks at) noexcept override {
    add_usage(to);
    m_is_cost_known = true;  // it is not worth measuring
    sample_usage(to, at);
  }

  void sample_usage(recorder& to, base::ticks at) noexcept {
    const cpu_usage used = usage_of_process().since(m_before);
    if (!m_is_cost_known && used.minor_faults >= least_faults) record_page_cost(to, at);
    to.sample(m_minor_faults, no_lane, static_cast<double>(used.minor_faults), at);
    to.sample(m_major_faults, no_lane, static_cast<double>(used.major_faults), at);
    to.sample(m_kernel_time, no_lane, static_cast<double>(used.kernel_ns) * 1e-9, at);
  }

  void stop(recorder& to, base::ticks at) noexcept override {
    // A process without lanes starts and stops at the same moment, when it ends.
    if (base::now() > m_levels_read + static_cast<base::ticks>(to.ticks_of_ns(least_between_levels_ns)))
      sample_levels(to, at);
    sample_usage(to, at);
    double bytes = 0;
    if (read_kilobytes("status", "VmHWM", bytes)) to.sample(m_peak, no_lane, bytes, at);
    // The kernel looks at each page for that.
    if (bytes < least_looked_through || bytes > most_looked_through) return;
    if (read_kilobytes("smaps_rollup", "AnonHugePages", bytes)) to.sample(m_huge, no_lane, bytes, at);
  }

  // The child's figures begin at 0.
  void after_fork() noexcept override {
    m_resident = m_available = 0;
    m_before = {};
  }

 private:
  // Fewer take no time that is worth measuring what one takes.
  static constexpr std::uint64_t least_faults = 4096;
  // Pages are looked up when arrays have been filled, and then every few seconds.
  static constexpr unsigned samples_between_nodes = 32, first_of_nodes = 2;
  static constexpr double least_between_levels_ns = 200'000;
  static constexpr double least_looked_through = 50e6, most_looked_through = 2e9;

  void add_usage(recorder& to) noexcept {
    m_minor_faults = to.add_counter(words::counter_name::minor_page_faults, "1", "getrusage", true);
    m_major_faults = to.add_counter(words::counter_name::major_page_faults, "1", "getrusage", true);
    m_kernel_time = to.add_counter(words::counter_name::kernel_time, "s", "getrusage", true);
  }

  void sample_levels(recorder& to, base::ticks at) noexcept {
    double bytes = 0;
    if (m_resident != 0 && read_resident(bytes)) to.sample(m_resident, no_lane, bytes, at);
    if (m_available != 0 && read_available(bytes)) to.sample(m_available, no_lane, bytes, at);
  }

  void record_page_cost(recorder& to, base::ticks at) noexcept {
    m_is_cost_known = true;
    const std::optional<page_cost> cost = measured_page_cost(static_cast<std::size_t>(m_page_bytes));
    if (!cost) return;
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", m_page_bytes);
    to.fact("page bytes", text);
    to.sample(m_fault_cost, no_lane, cost->fault_s, at);
    to.sample(m_release_cost, no_lane, cost->release_s, at);
  }

  // Where there is one node, there is nothing to say.
  void start_nodes(recorder& to) noexcept {
    static std::int16_t nodes[base::cpu_mask::most];  // too large for any stack
    m_has_nodes = base::read_nodes_of_cpus(nodes, base::cpu_mask::most, m_root) >= 2;
    if (!m_has_nodes) return;
    m_fullest_node = to.add_counter(words::counter_name::fullest_node, "1", "move_pages", false);
    m_remote = to.add_counter(words::counter_name::remote_pages, "1", "move_pages", false);
    m_distance = to.add_counter(words::counter_name::node_distance, "1", "/sys/devices/system/node", false);
  }

  // Of the lanes' threads: those are the ones that use the program's arrays together.
  void look_at_nodes(recorder& to, base::ticks at) noexcept {
    constexpr std::size_t most_lanes = 512;
    std::uint32_t cpus[most_lanes];
    std::size_t threads = 0;
    const proc_threads figures(m_root);
    for (std::uint32_t i = 0, n = to.lanes(); i < n && threads < most_lanes; ++i) {
      lane* const lane_entry = to.lane_at(i);
      if (lane_entry == nullptr) continue;
      if (const std::optional<std::uint32_t> cpu = figures.cpu(lane_entry->header().tid); cpu) cpus[threads++] = *cpu;
    }
    const std::optional<page_nodes> nodes = read_page_nodes(m_root, cpus, threads);
    if (!nodes) return;
    to.sample(m_fullest_node, no_lane, nodes->fullest_share, at);
    to.sample(m_remote, no_lane, nodes->remote_share, at);
    to.sample(m_distance, no_lane, nodes->distance, at);
  }

  bool read_kilobytes(const char* file, const char* name, double& bytes) const noexcept {
    char path[320];
    char text[4096];
    std::uint64_t kilobytes = 0;
    std::snprintf(path, sizeof path, "%s/proc/self/%s", m_root, file);
    if (read_file(path, text, sizeof text) <= 0 || !find_number(text, name, kilobytes)) return false;
    bytes = static_cast<double>(kilobytes) * 1024;
    return true;
  }

  bool read_resident(double& bytes) const noexcept {
    char path[320];
    char text[128];
    unsigned long long size = 0, resident = 0;
    std::snprintf(path, sizeof path, "%s/proc/self/statm", m_root);
    if (read_file(path, text, sizeof text) <= 0 || std::sscanf(text, "%llu %llu", &size, &resident) != 2) return false;
    bytes = static_cast<double>(resident) * m_page_bytes;
    return true;
  }

  bool read_available(double& bytes) const noexcept {
    char path[320];
    char text[512];  // MemAvailable is the third line
    std::uint64_t kilobytes = 0;
    std::snprintf(path, sizeof path, "%s/proc/meminfo", m_root);
    if (read_file(path, text, sizeof text) <= 0 || !find_number(text, "MemAvailable", kilobytes)) return false;
    bytes = static_cast<double>(kilobytes) * 1024;
    return true;
  }

  const char* m_root = nullptr;
  double m_page_bytes = 4096;
  std::uint32_t m_resident = 0;
  std::uint32_t m_available = 0;
  std::uint32_t m_minor_faults = 0;
  std::uint32_t m_major_faults = 0;
  std::uint32_t m_kernel_time = 0;
  std::uint32_t m_peak = 0;
  std::uint32_t m_huge = 0;
  std::uint32_t m_fault_cost = 0;
  std::uint32_t m_release_cost = 0;
  bool m_is_cost_known = false;
  bool m_has_nodes = false;
  unsigned m_samples = 0;
  std::uint32_t m_fullest_node = 0;
  std::uint32_t m_remote = 0;
  std::uint32_t m_distance = 0;
  base::ticks m_levels_read = 0;
  cpu_usage m_before;
};

constinit memory_probe the_probe;

}  // namespace

probe* memory_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

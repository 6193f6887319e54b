// Memory that the program holds, memory that the machine has left, page faults that went to the disk.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "instances.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

namespace {

class memory_probe final : public probe {
 public:
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
    m_faults = to.add_counter("major page faults", "1", "getrusage", true);
    const base::ticks at = base::now();
    if (has_resident) to.sample(m_resident, no_lane, resident, at);
    if (has_available) to.sample(m_available, no_lane, available, at);
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    double bytes = 0;
    if (m_resident != 0 && read_resident(bytes)) to.sample(m_resident, no_lane, bytes, at);
    if (m_available != 0 && read_available(bytes)) to.sample(m_available, no_lane, bytes, at);
    rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) to.sample(m_faults, no_lane, static_cast<double>(usage.ru_majflt), at);
  }

  void after_fork() noexcept override { m_resident = m_available = m_faults = 0; }

 private:
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
  std::uint32_t m_faults = 0;
};

constinit memory_probe the_probe;

}  // namespace

probe* memory_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

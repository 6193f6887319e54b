// The CPU quota of the program's cgroup, or of the ancestor that limits it most, and the time lost to it.
#include "cgroup.hpp"

#include <cstdio>

#include "instances.hpp"
#include "proc_file.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::observe {

namespace {

class cgroup_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    if (!base::find_cpu_cgroup(root, m_from)) {
      to.unavailable("CPU quota", "no cgroup file system with a CPU controller is mounted", "mount it at /sys/fs/cgroup");
      return false;
    }
    if (m_from.quota == 0) {
      to.fact("cpu quota", "none");
      return false;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", m_from.quota);
    to.fact("cpu quota", text);
    to.fact("cpu quota set by", m_from.path);
    m_first = read_throttling(m_from);
    if (!m_first.is_valid) {
      to.unavailable("throttling by the CPU quota", "the cgroup's cpu.stat does not tell", "let the user read it");
      return false;
    }
    m_periods = to.add_counter("quota periods", "1", "cpu.stat", true);
    m_throttled = to.add_counter("quota periods throttled", "1", "cpu.stat", true);
    m_time = to.add_counter(words::counter_name::time_throttled, "s", "cpu.stat", true);
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    const throttling now = read_throttling(m_from);
    if (!now.is_valid) return;
    to.sample(m_periods, no_lane, static_cast<double>(now.periods - m_first.periods), at);
    to.sample(m_throttled, no_lane, static_cast<double>(now.throttled - m_first.throttled), at);
    to.sample(m_time, no_lane, static_cast<double>(now.throttled_us - m_first.throttled_us) * 1e-6, at);
  }

 private:
  base::cgroup_directory m_from;
  throttling m_first;
  std::uint32_t m_periods = 0;
  std::uint32_t m_throttled = 0;
  std::uint32_t m_time = 0;
};

constinit cgroup_probe the_probe;

}  // namespace

probe* cgroup_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

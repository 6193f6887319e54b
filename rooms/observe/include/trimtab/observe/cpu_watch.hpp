// What the CPUs of this process are about, window by window: how idle they are, what its cgroup pays for and stops, how much
// the process uses, and who else fits its threads to them (cpu_registry.hpp). What cannot be read is not told.
//
// One thread at a time, never a hook: it reads /proc and /sys, and allocates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trimtab/base/topology.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::observe {

struct cpu_window {
  double seconds = 0;
  double allowed_cpus = 1;
  double used_cpus = 0;                   // by this process
  double quota_cpus = 0;                  // of the cgroup, the least of its ancestors'; 0: none
  std::optional<double> idle_cpus;        // of those allowed
  std::optional<double> throttled_share;  // of the window, that the cgroup was stopped
  std::optional<std::uint32_t> others;    // other processes in the registry,
  std::uint32_t other_threads = 0;        // threads that these want, together,
  std::uint32_t registry_share = 0;       // and CPUs for this process
};

class cpu_watch {
 public:
  // allowed: the CPUs that the process may use; a change of them is seen by the mask of the thread that ends windows, which
  // no runtime binds. registry: its path, "": none.
  cpu_watch(const base::cpu_mask& allowed, const std::string& registry, std::string root = "");
  ~cpu_watch();
  cpu_watch(const cpu_watch&) = delete;
  cpu_watch& operator=(const cpu_watch&) = delete;

  double allowed_cpus() const noexcept { return m_allowed_cpus; }
  double quota_cpus() const noexcept { return m_cgroup.quota; }
  // A window begins; whatever was under way is forgotten.
  void begin();
  double seconds() const noexcept;  // since then
  // It ends, and the next begins. wanted: threads that the process would have on an empty machine; how many it may is said
  // by the CPUs allowed and the quota.
  cpu_window end(std::uint32_t wanted);
  // The process fits no threads any more.
  void leave() noexcept;

 private:
  struct reading {
    std::uint64_t at_ns = 0, own_ns = 0;
    std::optional<std::uint64_t> idle_ticks, throttled_us;
  };
  reading read();
  void follow_affinity() noexcept;

  const std::string m_root;
  base::cpu_mask m_allowed;
  double m_allowed_cpus;
  std::optional<base::cpu_mask> m_mine;  // of the thread that ends windows
  base::cgroup_directory m_cgroup;
  bool m_has_cgroup = false;
  unsigned m_windows = 0;
  std::vector<char> m_text;
  reading m_before;
  std::optional<cpu_registry> m_registry;
};

}  // namespace trimtab::observe

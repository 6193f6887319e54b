// Pressure stall information of the machine and of the program's own cgroup (version 2): time in which tasks
// were held up for want of CPU, memory or I/O.
#include "psi.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "instances.hpp"
#include "proc_file.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

pressure read_pressure(const char* path, int& error) noexcept {
  pressure result;
  char text[256];
  const long length = read_file(path, text, sizeof text);
  error = length < 0 ? static_cast<int>(-length) : 0;
  if (length <= 0) return result;
  for (const char* line = text; *line != '\0';) {
    const char* const end = strchrnul(line, '\n');
    const char* const total = std::strstr(line, "total=");
    if (total != nullptr && total < end) {
      const std::uint64_t value = std::strtoull(total + std::strlen("total="), nullptr, 10);
      if (std::strncmp(line, "some", 4) == 0) {
        result.has_some = true;
        result.some_us = value;
      } else if (std::strncmp(line, "full", 4) == 0) {
        result.has_full = true;
        result.full_us = value;
      }
    }
    line = *end == '\0' ? end : end + 1;
  }
  return result;
}

namespace {

constexpr const char* resources[] = {"cpu", "memory", "io"};
constexpr unsigned resource_count = 3;

struct source {
  char path[1700];
  std::uint32_t some;  // counter; 0: not there
  std::uint32_t full;
  pressure first;  // the kernel counts from its boot, samples from the start of the probe
};
constinit source sources[2 * resource_count] = {};  // of the machine, of the cgroup

class psi_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_count = 0;
    int error = 0;
    char path[1700];
    for (const char* resource : resources) {
      std::snprintf(path, sizeof path, "%s/proc/pressure/%s", root, resource);
      const int failed = add(to, path, "pressure", resource);
      if (failed != 0) error = failed;
    }
    if (error != 0) tell(to, error);
    // The top cgroup, which alone has no type, is the whole machine, which was added above.
    base::cgroup_directory own_group;
    if (base::find_cgroup(root, true, "", own_group) && has_type(own_group)) {
      for (const char* resource : resources) {
        std::snprintf(path, sizeof path, "%s/%s.pressure", own_group.path, resource);
        add(to, path, "cgroup pressure", resource);
      }
    }
    return m_count > 0;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    for (unsigned i = 0; i < m_count; ++i) {
      const source& source_entry = sources[i];
      int error = 0;
      const pressure now = read_pressure(source_entry.path, error);
      if (now.has_some) to.sample(source_entry.some, no_lane, seconds(now.some_us - source_entry.first.some_us), at);
      if (now.has_full) to.sample(source_entry.full, no_lane, seconds(now.full_us - source_entry.first.full_us), at);
    }
  }

 private:
  static bool has_type(const base::cgroup_directory& cgroup) noexcept {
    char path[1700], text[64];
    std::snprintf(path, sizeof path, "%s/cgroup.type", cgroup.path);
    return read_file(path, text, sizeof text) > 0;
  }
  static double seconds(std::uint64_t microseconds) noexcept { return static_cast<double>(microseconds) * 1e-6; }

  // Returns 0 or why the file cannot be read.
  int add(recorder& to, const char* path, const char* scope, const char* resource) noexcept {
    int error = 0;
    const pressure first = read_pressure(path, error);
    if (error != 0) return error;
    source& added = sources[m_count++];
    std::snprintf(added.path, sizeof added.path, "%s", path);
    added.first = first;
    char name[64];
    std::snprintf(name, sizeof name, "%s %s some", scope, resource);
    added.some = first.has_some ? to.add_counter(name, "s", path, true) : 0;
    std::snprintf(name, sizeof name, "%s %s full", scope, resource);
    added.full = first.has_full ? to.add_counter(name, "s", path, true) : 0;
    return 0;
  }

  static void tell(recorder& to, int error) noexcept {
    if (error == EOPNOTSUPP)
      to.unavailable("pressure stall information", "it is switched off", "boot with psi=1");
    else if (error == ENOENT)
      to.unavailable("pressure stall information", "the kernel has no /proc/pressure",
                     "use a kernel with CONFIG_PSI, from 4.20 on");
    else
      to.unavailable("pressure stall information", std::strerror(error), "let the user read /proc/pressure");
  }

  unsigned m_count = 0;
};

constinit psi_probe the_probe;

}  // namespace

probe* psi_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

// What the process and the machine read from disks and write to them.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "instances.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

namespace {

constexpr double sector_bytes = 512;  // of /proc/diskstats, whatever the disk's own are
constexpr std::size_t most_bytes = 32768;
constinit char text[most_bytes] = {};  // of one file at a time: one thread samples

struct traffic {
  std::uint64_t read = 0, written = 0;
};

class disk_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    m_read = m_written = m_machine_read = m_machine_written = 0;
    if (of_process(m_first)) {
      m_read = to.add_counter("disk read", "B", "/proc/self/io", true);
      m_written = to.add_counter("disk written", "B", "/proc/self/io", true);
    } else {
      to.unavailable("disk traffic of the process", "/proc/self/io cannot be read",
                     "use a kernel with CONFIG_TASK_IO_ACCOUNTING, with /proc mounted");
    }
    if (of_machine(m_machine_first)) {
      m_machine_read = to.add_counter("machine disk read", "B", "/proc/diskstats", true);
      m_machine_written = to.add_counter("machine disk written", "B", "/proc/diskstats", true);
    } else {
      to.unavailable("disk traffic of the machine", "/proc/diskstats names no disk",
                     "run where /proc and /sys/block of the machine can be read");
    }
    return m_read != 0 || m_machine_read != 0;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    traffic now;
    if (m_read != 0 && of_process(now)) {
      to.sample(m_read, no_lane, static_cast<double>(now.read - m_first.read), at);
      to.sample(m_written, no_lane, static_cast<double>(now.written - m_first.written), at);
    }
    if (m_machine_read != 0 && of_machine(now)) {
      to.sample(m_machine_read, no_lane, sector_bytes * static_cast<double>(now.read - m_machine_first.read), at);
      to.sample(m_machine_written, no_lane, sector_bytes * static_cast<double>(now.written - m_machine_first.written), at);
    }
  }

 private:
  // Bytes.
  bool of_process(traffic& bytes) const noexcept {
    char path[320];
    std::snprintf(path, sizeof path, "%s/proc/self/io", m_root);
    return read_file(path, text, sizeof text) > 0 && find_number(text, "read_bytes", bytes.read) &&
           find_number(text, "write_bytes", bytes.written);
  }

  // Sectors of all disks; partitions and what is made of several disks would count them twice. False: there is no disk.
  bool of_machine(traffic& sectors) const noexcept {
    char path[320];
    std::snprintf(path, sizeof path, "%s/proc/diskstats", m_root);
    if (read_file(path, text, sizeof text) <= 0) return false;
    sectors = {};
    bool has_disk = false;
    for (const char* line = text; *line != '\0';) {
      char name[64];
      unsigned long long read = 0, written = 0;
      // major minor name reads merged SECTORS ms writes merged SECTORS ...
      if (std::sscanf(line, " %*u %*u %63s %*u %*u %llu %*u %*u %*u %llu", name, &read, &written) == 3 && is_disk(name)) {
        has_disk = true;
        sectors.read += read;
        sectors.written += written;
      }
      line = strchrnul(line, '\n');
      line += *line == '\n';
    }
    return has_disk;
  }

  bool is_disk(const char* name) const noexcept {
    char path[400];
    std::snprintf(path, sizeof path, "%s/sys/block/%s/device", m_root, name);
    return access(path, F_OK) == 0;
  }

  const char* m_root = nullptr;
  traffic m_first, m_machine_first;
  std::uint32_t m_read = 0, m_written = 0, m_machine_read = 0, m_machine_written = 0;
};

constinit disk_probe the_probe;

}  // namespace

probe* disk_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

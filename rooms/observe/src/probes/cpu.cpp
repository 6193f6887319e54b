// Load of the CPUs that the program may use, by whom: the program itself, other programs, other virtual
// machines. /proc/stat counts in clock ticks (10 ms), so the load of others is taken over a tenth of a second
// and more.
#include "cpu.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "instances.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

namespace {
// One line a CPU and then long lines of interrupts: enough for 1,000 CPUs. Used by one sampler at a time.
constinit char stat_text[96 * 1024];
}  // namespace

cpu_times read_cpu_times(const char* root, const base::cpu_mask& cpus) noexcept {
  char path[320];
  std::snprintf(path, sizeof path, "%s/proc/stat", root);
  return read_file(path, stat_text, sizeof stat_text) > 0 ? cpu_times_in(stat_text, cpus) : cpu_times();
}

namespace {

constexpr std::uint64_t least_interval_ns = 90'000'000;

class cpu_probe final : public probe {
 public:
  // The program's CPUs are those of its beginning: a bound team leaves its main thread with one.
  void attached() noexcept override { m_cpus = base::allowed_cpus(); }

  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    m_last = {};
    if (m_cpus.count() == 0) attached();
    m_process = to.add_counter("process cpu", "s", "CLOCK_PROCESS_CPUTIME_ID", true);
    m_first = read_cpu_times(root, m_cpus);
    if (!m_first.is_valid) {
      to.unavailable("load of the CPUs by others", "/proc/stat cannot be read or lists none of the program's CPUs",
                     "mount /proc");
      return true;  // the program's own time is there all the same
    }
    m_seconds_per_tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    m_busy = to.add_counter("cpu busy", "s", "/proc/stat", true);
    m_stolen = to.add_counter("cpu stolen", "s", "/proc/stat", true);
    m_others = to.add_counter("cpu load of others", "CPUs", "/proc/stat less the process's own time", false);
    m_last = {base::monotonic_ns(), m_first, base::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID)};
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    const reading now{base::monotonic_ns(), read_cpu_times(m_root, m_cpus), base::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID)};
    to.sample(m_process, no_lane, static_cast<double>(now.own_ns) * 1e-9, at);
    if (!m_first.is_valid || !now.times.is_valid) return;
    to.sample(m_busy, no_lane, seconds(now.times.busy - m_first.busy), at);
    to.sample(m_stolen, no_lane, seconds(now.times.stolen - m_first.stolen), at);
    if (now.mono_ns - m_last.mono_ns < least_interval_ns) return;
    const double wall = static_cast<double>(now.mono_ns - m_last.mono_ns) * 1e-9;
    const double own_seconds = static_cast<double>(now.own_ns - m_last.own_ns) * 1e-9;
    const double others = (seconds(now.times.busy - m_last.times.busy) - own_seconds) / wall;
    to.sample(m_others, no_lane, others > 0 ? others : 0, at);
    m_last = now;
  }

 private:
  struct reading {
    std::uint64_t mono_ns;
    cpu_times times;
    std::uint64_t own_ns;
  };

  double seconds(std::uint64_t kernel_ticks) const noexcept {
    return static_cast<double>(kernel_ticks) * m_seconds_per_tick;
  }

  const char* m_root = nullptr;
  base::cpu_mask m_cpus;
  double m_seconds_per_tick = 0.01;
  std::uint32_t m_process = 0;
  std::uint32_t m_busy = 0;
  std::uint32_t m_stolen = 0;
  std::uint32_t m_others = 0;
  cpu_times m_first;
  reading m_last{};
};

constinit cpu_probe the_probe;

}  // namespace

probe* cpu_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe

// Per lane: time on a CPU, time runnable without one, switches (schedstat, status). Always allowed; works
// without CONFIG_SCHEDSTATS except for the run delay, which is then 0 in the file and told of.
#include "threads.hpp"

#include <unistd.h>

#include <cstdio>

#include "proc_file.hpp"

namespace trimtab::observe {

thread_figures read_thread(const char* root, std::uint32_t tid) noexcept {
  thread_figures figures;
  char path[320];
  char text[4096];
  std::snprintf(path, sizeof path, "%s/proc/self/task/%u/schedstat", root, tid);
  unsigned long long run = 0, delay = 0, slices = 0;
  if (read_file(path, text, sizeof text) > 0 && std::sscanf(text, "%llu %llu %llu", &run, &delay, &slices) == 3) {
    figures.is_valid = true;
    figures.run_ns = run;
    figures.run_delay_ns = delay;
    figures.time_slices = slices;
  }
  std::snprintf(path, sizeof path, "%s/proc/self/task/%u/status", root, tid);
  if (read_file(path, text, sizeof text) > 0) {
    find_number(text, "voluntary_ctxt_switches", figures.voluntary_switches);
    find_number(text, "nonvoluntary_ctxt_switches", figures.involuntary_switches);
  }
  std::snprintf(path, sizeof path, "%s/proc/self/task/%u/sched", root, tid);
  if (read_file(path, text, sizeof text) <= 0 || !find_number(text, "se.nr_migrations", figures.migrations))
    figures.migrations = unknown;
  return figures;
}

namespace {

// Figures of a lane's present thread at the time it took the lane, and of the threads before it.
struct lane_base {
  thread_figures at_open;
  thread_figures finished;
};

class threads_probe final : public probe {
 public:
  bool start(recorder& to) noexcept override {
    if (!read_thread("", static_cast<std::uint32_t>(gettid())).is_valid) {
      to.unavailable("run delay of threads", "/proc/self/task/*/schedstat cannot be read",
                     "mount /proc, or use a kernel with CONFIG_SCHED_INFO");
      return false;
    }
    m_delay = to.add_counter("run delay", "s", "schedstat", true);
    return true;
  }

  void lane_opened(recorder&, lane& which) noexcept override {
    if (which.id() >= max_lanes) return;
    m_base[which.id()].at_open = read_thread("", which.header().tid);
  }

  void lane_closed(recorder&, lane& which) noexcept override {
    if (which.id() >= max_lanes) return;
    write(which);
    const lane_header& head = which.header();
    m_base[which.id()].finished = {true, head.run_ns, head.run_delay_ns, head.time_slices, head.voluntary_switches,
                                   head.involuntary_switches, head.migrations};
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    double delay = 0;
    for (std::uint32_t i = 0, n = to.lanes(); i < n && i < max_lanes; ++i) {
      lane* const each = to.lane_at(i);
      if (each == nullptr) continue;
      if (each->is_open()) write(*each);
      delay += static_cast<double>(each->header().run_delay_ns) * 1e-9;
    }
    to.sample(m_delay, no_lane, delay, at);
  }

 private:
  static constexpr std::uint32_t max_lanes = 4096;

  void write(lane& which) noexcept {
    const thread_figures now = read_thread("", which.header().tid);
    if (!now.is_valid) return;  // the thread has gone
    const lane_base& base = m_base[which.id()];
    lane_header& head = which.header();
    head.run_ns = base.finished.run_ns + now.run_ns - base.at_open.run_ns;
    head.run_delay_ns = base.finished.run_delay_ns + now.run_delay_ns - base.at_open.run_delay_ns;
    head.time_slices = base.finished.time_slices + now.time_slices - base.at_open.time_slices;
    head.voluntary_switches = base.finished.voluntary_switches + now.voluntary_switches - base.at_open.voluntary_switches;
    head.involuntary_switches =
        base.finished.involuntary_switches + now.involuntary_switches - base.at_open.involuntary_switches;
    const std::uint64_t before = base.finished.migrations == unknown ? 0 : base.finished.migrations;
    head.migrations = now.migrations == unknown || base.at_open.migrations == unknown
                          ? unknown
                          : before + now.migrations - base.at_open.migrations;
  }

  std::uint32_t m_delay = 0;
  lane_base m_base[max_lanes] = {};
};

}  // namespace

probe* threads_probe_instance() {
  static threads_probe one;
  return &one;
}

}  // namespace trimtab::observe

// Per lane: time on a CPU, time runnable without one, switches, migrations (schedstat, status, sched). Always
// allowed; works without CONFIG_SCHEDSTATS. Migrations need CONFIG_SCHED_DEBUG and are unknown without.
#include "threads.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "instances.hpp"
#include "proc_file.hpp"
#include "slot_table.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/observe/words.hpp"

namespace trimtab::observe {

thread_figures read_thread(const proc_threads& threads, std::uint32_t tid, thread_detail detail) noexcept {
  thread_figures figures;
  figures.migrations = unknown;
  const std::optional<thread_times> times = threads.times(tid);
  if (!times) return figures;
  figures.is_valid = true;
  figures.run_ns = times->run_ns;
  figures.run_delay_ns = times->run_delay_ns;
  figures.time_slices = times->time_slices;
  if (detail == thread_detail::times) return figures;
  char path[320], text[4096];
  write_thread_path(path, sizeof path, threads.root(), tid, "status");
  if (read_file(path, text, sizeof text) > 0) {
    find_number(text, "voluntary_ctxt_switches", figures.voluntary_switches);
    find_number(text, "nonvoluntary_ctxt_switches", figures.involuntary_switches);
  }
  write_thread_path(path, sizeof path, threads.root(), tid, "sched");
  if (read_file(path, text, sizeof text) <= 0 || !find_number(text, "se.nr_migrations", figures.migrations))
    figures.migrations = unknown;
  figures.usage = threads.usage(tid).value_or(cpu_usage{});
  return figures;
}

std::uint64_t read_process_delay(const char* root) noexcept {
  const std::optional<thread_times> all = read_process_times(root);
  return all ? all->run_delay_ns : unknown;
}

namespace {

constexpr unsigned detail_every = 16;               // samples between readings of switches and migrations
constexpr std::uint64_t least_change_ns = 100'000;  // of run delay, to be worth a sample
constexpr std::uint64_t least_time_ns = 5'000'000;  // of threads that want to run, to say whether they can
constexpr std::uint64_t lacking = 20;               // one part in so many of it

struct slot {
  std::uint32_t tid;  // 0: no thread has the lane
  std::uint64_t sampled_delay;
  thread_figures before;    // of the present thread, not of this program
  thread_figures finished;  // of the lane's threads before the present one
};
constinit slot_table<slot> slots;

// Each migration takes a switch, so a thread that has hardly been switched has hardly migrated.
constexpr std::uint64_t few_switches = 16;

// Of the first thread, at the begin of the program. Most programs begin in a process that has done next to nothing: for
// these two files of /proc less are read, which take as long as all others.
thread_figures read_before(std::uint32_t tid) noexcept {
  const proc_threads threads("");
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0 ||
      static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw) > few_switches)
    return read_thread(threads, tid, thread_detail::all);
  thread_figures figures = read_thread(threads, tid, thread_detail::times);
  figures.migrations = 0;
  figures.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  figures.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  figures.usage = usage_of_thread();
  return figures;
}

class threads_probe final : public probe {
 public:
  // Figures survive exec: what the pid did before this program is not its own.
  void attached() noexcept override {
    m_main_tid = static_cast<std::uint32_t>(getpid());
    m_main_before = read_before(m_main_tid);
  }

  void after_fork() noexcept override {
    m_lock.reset();
    m_main_tid = 0;  // the child's figures begin at 0
    forget_lanes();
    m_wanted_ns = m_lacked_ns = 0;
    m_is_lacking.store(false, std::memory_order_relaxed);
  }

  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    forget_lanes();
    char path[320];
    const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    const thread_figures own_figures =
        m_main_before.is_valid ? m_main_before : read_thread(proc_threads(root), tid, thread_detail::all);
    if (!own_figures.is_valid) {
      to.unavailable("run time and run delay of threads", "/proc/TID/schedstat cannot be read",
                     "mount /proc of the process's own pid namespace, on a kernel with CONFIG_SCHED_INFO");
      return false;
    }
    std::snprintf(path, sizeof path, "%s/proc/self/sched", root);
    if (access(path, R_OK) != 0)
      to.unavailable("migrations between CPUs", "the kernel has no /proc/TID/sched", "use a kernel with CONFIG_SCHED_DEBUG");
    m_lane_delay = to.add_counter("run delay", "s", "schedstat", true);
    add_totals(to);
    return true;
  }

  void lane_opened(recorder&, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.make(affected_lane.id());
    if (own_slot == nullptr) return;
    if (affected_lane.id() >= m_slots_used) m_slots_used = affected_lane.id() + 1;
    own_slot->tid = affected_lane.header().tid;
    own_slot->before = own_slot->tid == m_main_tid && m_main_before.is_valid ? m_main_before : thread_figures{};
  }

  void lane_closed(recorder&, lane& affected_lane) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own_slot = slots.find(affected_lane.id());
    if (own_slot == nullptr) return;
    update(affected_lane, *own_slot, proc_threads(m_root), thread_detail::all);
    own_slot->tid = 0;
    const lane_header& head = affected_lane.header();
    own_slot->finished = {true,
                          head.run_ns,
                          head.run_delay_ns,
                          head.time_slices,
                          head.voluntary_switches,
                          head.involuntary_switches,
                          head.migrations,
                          {head.program_ns, head.kernel_ns, head.minor_faults, head.major_faults}};
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    sample_lanes(to, at, ++m_samples % detail_every == 0 ? thread_detail::all : thread_detail::times);
  }

  void stop(recorder& to, base::ticks at) noexcept override {
    sample_lanes(to, at, thread_detail::all);
    sample_first(to, at);
    if (const std::uint64_t all = read_process_delay(m_root); all != unknown) sample_delay(to, all, at);
  }

  // Its only thread's run delay is the process's.
  void count_short(recorder& to, base::ticks at) noexcept override {
    m_root = "";
    add_totals(to);
    if (const std::optional<thread_times> only = sample_first(to, at); only) sample_delay(to, only->run_delay_ns, at);
  }

  bool is_lacking() const noexcept { return m_is_lacking.load(std::memory_order_relaxed); }

 private:
  void add_totals(recorder& to) noexcept {
    m_process_delay =
        to.add_counter(words::counter_name::process_run_delay, "s", "schedstat of the threads alive at the end", true);
    m_first_thread = to.add_counter(words::counter_name::first_thread_time, "s", "schedstat", true);
  }

  std::optional<thread_times> sample_first(recorder& to, base::ticks at) noexcept {
    const std::optional<thread_times> first = proc_threads(m_root).times(static_cast<std::uint32_t>(getpid()));
    const std::uint64_t ran_before = m_main_tid != 0 ? m_main_before.run_ns : 0;
    if (first) to.sample(m_first_thread, no_lane, static_cast<double>(first->run_ns - ran_before) * 1e-9, at);
    return first;
  }

  void sample_delay(recorder& to, std::uint64_t all_ns, base::ticks at) noexcept {
    const std::uint64_t before = m_main_tid != 0 ? m_main_before.run_delay_ns : 0;
    to.sample(m_process_delay, no_lane, static_cast<double>(all_ns - before) * 1e-9, at);
  }

  void forget_lanes() noexcept {
    slots.for_each(m_slots_used, [](slot& known_slot) { known_slot = {}; });
    m_slots_used = 0;
  }

  void sample_lanes(recorder& to, base::ticks at, thread_detail detail) noexcept {
    const proc_threads threads(m_root);
    std::uint64_t ran = 0, lacked = 0;
    for (std::uint32_t i = 0, n = to.lanes(); i < n; ++i) {
      lane* const lane_entry = to.lane_at(i);
      if (lane_entry == nullptr) continue;
      std::uint64_t delay = 0;
      {
        const std::lock_guard guard(m_lock);  // for one lane at a time: a thread that ends waits for little
        slot* const own_slot = slots.find(i);
        if (own_slot == nullptr) continue;
        if (own_slot->tid != 0) update(*lane_entry, *own_slot, threads, detail);
        delay = lane_entry->header().run_delay_ns;
        ran += lane_entry->header().run_ns;
        lacked += delay;
        if (delay < own_slot->sampled_delay + least_change_ns) continue;
        own_slot->sampled_delay = delay;
      }
      to.sample(m_lane_delay, i, static_cast<double>(delay) * 1e-9, at);
    }
    look_at(ran + lacked, lacked);
  }

  // Sums over all lanes since they began.
  void look_at(std::uint64_t wanted_ns, std::uint64_t lacked_ns) noexcept {
    if (wanted_ns < m_wanted_ns + least_time_ns) return;
    const std::uint64_t wanted = wanted_ns - m_wanted_ns, lacked = lacked_ns > m_lacked_ns ? lacked_ns - m_lacked_ns : 0;
    m_is_lacking.store(lacked >= wanted / lacking, std::memory_order_relaxed);
    m_wanted_ns = wanted_ns;
    m_lacked_ns = lacked_ns;
  }

  void update(lane& affected_lane, const slot& own_slot, const proc_threads& threads, thread_detail detail) noexcept {
    const thread_figures now = read_thread(threads, own_slot.tid, detail);
    if (!now.is_valid) return;  // the thread has gone without a word
    lane_header& head = affected_lane.header();
    head.run_ns = own_slot.finished.run_ns + now.run_ns - own_slot.before.run_ns;
    head.run_delay_ns = own_slot.finished.run_delay_ns + now.run_delay_ns - own_slot.before.run_delay_ns;
    head.time_slices = own_slot.finished.time_slices + now.time_slices - own_slot.before.time_slices;
    if (detail == thread_detail::times) return;
    head.voluntary_switches =
        own_slot.finished.voluntary_switches + now.voluntary_switches - own_slot.before.voluntary_switches;
    head.involuntary_switches =
        own_slot.finished.involuntary_switches + now.involuntary_switches - own_slot.before.involuntary_switches;
    const cpu_usage used = own_slot.finished.usage.plus(now.usage.since(own_slot.before.usage));
    head.program_ns = used.program_ns;
    head.kernel_ns = used.kernel_ns;
    head.minor_faults = used.minor_faults;
    head.major_faults = used.major_faults;
    const bool has_migrations = now.migrations != unknown && own_slot.finished.migrations != unknown;
    head.migrations = has_migrations ? own_slot.finished.migrations + now.migrations - migrations_before(own_slot) : unknown;
  }

  static std::uint64_t migrations_before(const slot& own_slot) noexcept {
    return own_slot.before.migrations == unknown ? 0 : own_slot.before.migrations;
  }

  const char* m_root = nullptr;
  std::uint32_t m_lane_delay = 0;
  std::uint32_t m_process_delay = 0;
  std::uint32_t m_first_thread = 0;
  std::uint32_t m_main_tid = 0;
  unsigned m_samples = 0;
  std::uint64_t m_wanted_ns = 0, m_lacked_ns = 0;  // at the last look
  std::atomic<bool> m_is_lacking{false};
  thread_figures m_main_before;
  std::uint32_t m_slots_used = 0;
  base::spin_lock m_lock;  // slots and the figures in lane headers
};

constinit threads_probe the_probe;

}  // namespace

probe* threads_probe_instance() { return &the_probe; }

bool do_threads_lack_cpus() noexcept { return the_probe.is_lacking(); }

}  // namespace trimtab::observe

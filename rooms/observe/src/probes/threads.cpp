// Per lane: time on a CPU, time runnable without one, switches, migrations (schedstat, status, sched). Always
// allowed; works without CONFIG_SCHEDSTATS. Migrations need CONFIG_SCHED_DEBUG and are unknown without.
#include "threads.hpp"

#include <fcntl.h>
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

thread_figures read_thread(const proc_threads& among, std::uint32_t tid, thread_detail detail) noexcept {
  thread_figures figures;
  figures.migrations = unknown;
  const std::optional<thread_times> times = among.times(tid);
  if (!times) return figures;
  figures.is_valid = true;
  figures.run_ns = times->run_ns;
  figures.run_delay_ns = times->run_delay_ns;
  figures.time_slices = times->time_slices;
  if (detail == thread_detail::times) return figures;
  char path[320], text[4096];
  write_thread_path(path, sizeof path, among.root(), tid, "status");
  if (read_file(path, text, sizeof text) > 0) {
    find_number(text, "voluntary_ctxt_switches", figures.voluntary_switches);
    find_number(text, "nonvoluntary_ctxt_switches", figures.involuntary_switches);
  }
  write_thread_path(path, sizeof path, among.root(), tid, "sched");
  if (read_file(path, text, sizeof text) <= 0 || !find_number(text, "se.nr_migrations", figures.migrations))
    figures.migrations = unknown;
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

class threads_probe final : public probe {
 public:
  // Figures survive exec: what the pid did before this program is not its own.
  void attached() noexcept override {
    m_main_tid = static_cast<std::uint32_t>(getpid());
    m_main_before = read_thread(proc_threads(""), m_main_tid, thread_detail::all);
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
    const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    const thread_figures own =
        m_main_before.is_valid ? m_main_before : read_thread(proc_threads(root), tid, thread_detail::all);
    if (!own.is_valid) {
      to.unavailable("run time and run delay of threads", "/proc/TID/schedstat cannot be read",
                     "mount /proc of the process's own pid namespace, on a kernel with CONFIG_SCHED_INFO");
      return false;
    }
    if (own.migrations == unknown)
      to.unavailable("migrations between CPUs", "the kernel has no /proc/TID/sched", "use a kernel with CONFIG_SCHED_DEBUG");
    m_lane_delay = to.add_counter("run delay", "s", "schedstat", true);
    m_process_delay =
        to.add_counter(words::counter_name::process_run_delay, "s", "schedstat of the threads alive at the end", true);
    return true;
  }

  void lane_opened(recorder&, lane& which) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own = slots.make(which.id());
    if (own == nullptr) return;
    if (which.id() >= m_slots_used) m_slots_used = which.id() + 1;
    own->tid = which.header().tid;
    own->before = own->tid == m_main_tid && m_main_before.is_valid ? m_main_before : thread_figures{};
  }

  void lane_closed(recorder&, lane& which) noexcept override {
    const std::lock_guard guard(m_lock);
    slot* const own = slots.find(which.id());
    if (own == nullptr) return;
    update(which, *own, proc_threads(m_root), thread_detail::all);
    own->tid = 0;
    const lane_header& head = which.header();
    own->finished = {
        true,           head.run_ns, head.run_delay_ns, head.time_slices, head.voluntary_switches, head.involuntary_switches,
        head.migrations};
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    sample_lanes(to, at, ++m_samples % detail_every == 0 ? thread_detail::all : thread_detail::times);
  }

  void stop(recorder& to, base::ticks at) noexcept override {
    sample_lanes(to, at, thread_detail::all);
    const std::uint64_t all = read_process_delay(m_root);
    if (all == unknown) return;
    const std::uint64_t before = m_main_tid != 0 ? m_main_before.run_delay_ns : 0;
    to.sample(m_process_delay, no_lane, static_cast<double>(all - before) * 1e-9, at);
  }

  bool is_lacking() const noexcept { return m_is_lacking.load(std::memory_order_relaxed); }

 private:
  void forget_lanes() noexcept {
    slots.for_each(m_slots_used, [](slot& known) { known = {}; });
    m_slots_used = 0;
  }

  void sample_lanes(recorder& to, base::ticks at, thread_detail detail) noexcept {
    const proc_threads threads(m_root);
    std::uint64_t ran = 0, lacked = 0;
    for (std::uint32_t i = 0, n = to.lanes(); i < n; ++i) {
      lane* const each = to.lane_at(i);
      if (each == nullptr) continue;
      std::uint64_t delay = 0;
      {
        const std::lock_guard guard(m_lock);  // for one lane at a time: a thread that ends waits for little
        slot* const own = slots.find(i);
        if (own == nullptr) continue;
        if (own->tid != 0) update(*each, *own, threads, detail);
        delay = each->header().run_delay_ns;
        ran += each->header().run_ns;
        lacked += delay;
        if (delay < own->sampled_delay + least_change_ns) continue;
        own->sampled_delay = delay;
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

  void update(lane& which, const slot& mine, const proc_threads& among, thread_detail detail) noexcept {
    const thread_figures now = read_thread(among, mine.tid, detail);
    if (!now.is_valid) return;  // the thread has gone without a word
    lane_header& head = which.header();
    head.run_ns = mine.finished.run_ns + now.run_ns - mine.before.run_ns;
    head.run_delay_ns = mine.finished.run_delay_ns + now.run_delay_ns - mine.before.run_delay_ns;
    head.time_slices = mine.finished.time_slices + now.time_slices - mine.before.time_slices;
    if (detail == thread_detail::times) return;
    head.voluntary_switches = mine.finished.voluntary_switches + now.voluntary_switches - mine.before.voluntary_switches;
    head.involuntary_switches =
        mine.finished.involuntary_switches + now.involuntary_switches - mine.before.involuntary_switches;
    const bool is_known = now.migrations != unknown && mine.finished.migrations != unknown;
    head.migrations = is_known ? mine.finished.migrations + now.migrations - migrations_before(mine) : unknown;
  }

  static std::uint64_t migrations_before(const slot& mine) noexcept {
    return mine.before.migrations == unknown ? 0 : mine.before.migrations;
  }

  const char* m_root = nullptr;
  std::uint32_t m_lane_delay = 0;
  std::uint32_t m_process_delay = 0;
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

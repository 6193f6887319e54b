#include "trimtab/observe/recorder.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "process_identity.hpp"
#include "recorder_append.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe {

constinit recorder the_recorder;

namespace {

constexpr std::size_t names_first_bytes = 12 * 1024;
constexpr std::size_t samples_first_bytes = 64 * 1024;

std::uint64_t ns_of(const timeval& t) noexcept {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_usec) * 1000u;
}

void read_usage(process_header& target) noexcept {
  rusage usage;
  if (!base::may_call_system() || getrusage(RUSAGE_SELF, &usage) != 0) return;
  target.user_ns = ns_of(usage.ru_utime);
  target.system_ns = ns_of(usage.ru_stime);
  target.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  target.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  target.max_rss_kb = static_cast<std::uint64_t>(usage.ru_maxrss);
}

}  // namespace

int recorder::open(const recorder_options& options) noexcept {
  const int saved = errno;
  m_options = options;
  m_level = options.level;
  m_clock = base::choose_clock();
  const std::size_t length = std::strlen(options.run_directory);
  if (length >= sizeof m_run_directory) return ENAMETOOLONG;
  if (options.run_directory != m_run_directory) std::memcpy(m_run_directory, options.run_directory, length + 1);
  m_options.run_directory = m_run_directory;
  if (options.is_listed) begin_in_list();
  if (const int error = options.is_listed ? 0 : create_directory(); error != 0) {
    m_level = record_level::off;
    errno = saved;
    return error;
  }
  process_header& self = *m_process;
  self.clock = base::clock_is_tsc ? clock_kind::tsc : clock_kind::monotonic;
  self.ticks_0 = m_clock.ticks_0;
  self.mono_ns_0 = m_clock.mono_ns_0;
  self.real_ns_0 = m_clock.real_ns_0;
  self.start_ticks = m_clock.ticks_0;
  m_working.reset(m_clock.ticks_0);
  begin_limits();
  self.forked_from = m_forked_from;
  base::read_file("/proc/self/cmdline", self.command, sizeof self.command);
  // By now some time has passed to measure the clock by.
  m_clock = base::refine(m_clock);
  self.ns_per_tick = m_clock.ns_per_tick;
  self.clock_read_ns = base::clock_read_cost_ns(m_clock);
  m_clock_read = static_cast<base::ticks>(ticks_of_ns(self.clock_read_ns));
  self.last_ticks = base::now();
  self.setup_ticks = self.last_ticks - self.start_ticks;
  append_identity();
  record_cpus();
  if (const int error = options.is_listed ? enter_list() : 0; error != 0) {
    m_level = record_level::off;
    errno = saved;
    return error;
  }
  // Readers take a process for begun once process.tt has its magic: all that they need of it is there by now.
  if (!m_is_listed.load(std::memory_order_relaxed)) {
    publish(m_names_file.data());
    publish(m_process_file.data());
  }
  m_state.store(state::on, std::memory_order_release);
  errno = saved;
  return 0;
}

// Of a process in the list only what takes no time: most are short, and have the limits that the others have.
void recorder::begin_limits() noexcept {
  const std::uint32_t allowed = base::allowed_cpus().count();
  m_process->cpus_affinity = allowed;
  m_process->cpus_available = allowed;
  if (!m_is_listed.load(std::memory_order_relaxed) || allowed == base::cpu_mask::most) read_limits_under_lock();
}

void recorder::read_limits() noexcept {
  const std::lock_guard guard(m_lock);
  read_limits_under_lock();
}

void recorder::read_limits_under_lock() noexcept {
  if (m_process->cpus_online != 0 || !base::may_call_system()) return;
  const base::cpu_limits limits = base::read_cpu_limits();
  m_process->cpus_affinity = limits.affinity;
  m_process->cpus_quota = limits.quota;
  m_process->cpus_available = limits.available;
  m_process->cpus_online = limits.online;
}

bool recorder::is_short(base::ticks at) const noexcept {
  return static_cast<double>(at - m_process->start_ticks) * m_process->ns_per_tick < short_life_ns;
}

// Which CPUs: processes of a run that could use the same ones have them once together.
void recorder::record_cpus() noexcept {
  char list[1024];
  if (base::write_cpu_list(base::allowed_cpus(), list, sizeof list)) append_fact("cpus", list);
}

int recorder::create_directory() noexcept {
  const int error = make_folder();
  if (error == 0) begin_process_header(m_process_file.data());
  return error;
}

int recorder::make_folder() noexcept {
  const auto pid = static_cast<unsigned>(getpid());
  const file_host_name host;
  int result = -1;
  for (unsigned n = 0; n < 10'000 && result != 0; ++n) {
    std::snprintf(m_directory, sizeof m_directory, "%s/%s-%u-%u", m_run_directory, host.text, pid, n);
    result = mkdir(m_directory, 0700);
    if (result != 0 && errno != EEXIST) break;
  }
  if (result == 0) return create_tables();
  m_directory[0] = '\0';
  return errno;
}

int recorder::create_tables() noexcept {
  int error = create_file(m_process_file, "process.tt", file_kind::process, 0, header_bytes, header_bytes);
  if (error == 0) error = create_file(m_names_file, "names.tt", file_kind::names, 0, header_bytes + names_first_bytes);
  if (error != 0) remove_tables();
  return error;
}

void recorder::remove_tables() noexcept {
  m_process_file.remove();
  m_names_file.remove();
  rmdir(m_directory);
  m_directory[0] = '\0';
}

void recorder::begin_process_header(std::byte* at) noexcept {
  m_process = reinterpret_cast<process_header*>(at + sizeof(file_header));
  m_process->pid = static_cast<std::uint32_t>(getpid());
  m_process->ppid = static_cast<std::uint32_t>(getppid());
  m_process->level = m_level;
  m_process->state = process_state::running;
}

bool recorder::path_of(const char* name, char (&buffer)[576]) const noexcept {
  const int length = std::snprintf(buffer, sizeof buffer, "%s/%s", m_directory, name);
  return length >= 0 && static_cast<std::size_t>(length) < sizeof buffer;
}

int recorder::create_file(base::mapped_file& file, const char* name, file_kind kind, std::uint32_t record_bytes,
                          std::size_t bytes, std::size_t reserve) noexcept {
  char path[576];
  if (!path_of(name, path)) return ENAMETOOLONG;
  const int error = file.create(path, bytes, reserve);
  if (error == 0) write_header(file.data(), kind, record_bytes, file.size());
  return error;
}

int recorder::create_file(base::appended_file& file, const char* name, file_kind kind, std::uint32_t record_bytes,
                          std::size_t bytes) noexcept {
  char path[576];
  if (!path_of(name, path)) return ENAMETOOLONG;
  const int error = file.create(path, bytes);
  if (error == 0) write_header(file.data(), kind, record_bytes, file.size());
  return error;
}

void recorder::write_header(std::byte* at, file_kind kind, std::uint32_t record_bytes, std::size_t file_bytes) noexcept {
  auto& head = *reinterpret_cast<file_header*>(at);
  head.version = format_version;
  head.minor = format_minor;
  head.header_size = header_bytes;
  head.kind = kind;
  head.record_bytes = record_bytes;
  head.capacity = (file_bytes - header_bytes) / (record_bytes == 0 ? 1 : record_bytes);
}

// The magic last, in one store: a file without it was never finished, and readers take it for absent. Release: whoever
// sees it sees both headers, as they were written before.
void recorder::publish(std::byte* at) noexcept {
  auto& head = *reinterpret_cast<file_header*>(at);
  std::uint64_t magic;
  std::memcpy(&magic, file_magic, sizeof magic);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(head.magic)).store(magic, std::memory_order_release);
}

void recorder::heartbeat(base::ticks at) noexcept {
  if (base::may_call_system()) m_clock = base::refine(m_clock);
  m_process->ns_per_tick = m_clock.ns_per_tick;
  read_usage(*m_process);
  std::atomic_ref(m_process->last_ticks).store(at, std::memory_order_release);
}

void recorder::close(process_state end_state) noexcept {
  if (!is_on() || m_process->end_ticks != 0) return;
  const int saved = errno;
  const base::ticks at = base::now();
  if (!is_short(at)) read_limits_under_lock();  // without it: who ends the process may have been interrupted while it had it
  heartbeat(at);
  m_process->end_ticks = at;
  std::atomic_ref(m_process->state).store(end_state, std::memory_order_release);
  if (m_is_listed.load(std::memory_order_acquire)) m_listed_page.write(m_page);
  errno = saved;
}

void recorder::reopen() noexcept {
  if (!is_on()) return;
  std::atomic_ref(m_process->state).store(process_state::running, std::memory_order_release);
  m_process->end_ticks = 0;
  const int saved = errno;
  if (m_is_listed.load(std::memory_order_acquire)) m_listed_page.write(m_page);
  errno = saved;
}

bool recorder::is_of_this_process() const noexcept {
  return m_process != nullptr && m_process->pid == static_cast<std::uint32_t>(getpid());
}

void recorder::after_fork() noexcept {
  base::forget_system_call_sections();
  if (is_off()) return;
  if (is_on()) m_forked_from = m_process->pid;
  m_state.store(state::forked, std::memory_order_relaxed);
  // The parent goes on writing to its pages. Hooks of the parent may still be on this thread's stack and hold
  // pointers into lanes: those get private memory in the place of the file, so that nothing leaks back.
  for (std::uint32_t i = 0, n = lanes(); i < n; ++i) {
    lane* const lane_entry = m_lanes[i].exchange(nullptr, std::memory_order_relaxed);
    if (lane_entry == nullptr) continue;
    lane_entry->m_events_file.detach();
    lane_entry->m_profile_file.detach();
  }
  m_process_file.detach();
  m_listed_page.forget();
  m_folder_error = 0;
  m_is_listed.store(false, std::memory_order_relaxed);
  m_names_file.close();
  m_counters_file.close();
  m_switches_file.close();
  m_decisions_file.close();
  m_subjects.clear();
  m_lane_count = 0;
  m_parallel = 0;
  m_trace_used = 0;
  m_trace_full = false;
  m_has_refused_lanes = m_has_refused_subjects = false;
  m_has_refused_modules = false;
  m_subject_count = m_counter_count = m_knob_count = m_module_count = 0;
  m_runtime_count = m_policy_count = 0;
  m_open_lock.reset();
  m_lock.reset();
  m_sample_lock.reset();
  t_lane = nullptr;
  generation += 1;
}

// By CPU time, not by the clock: with more threads than CPUs most of the time passes without us.
recorder::setup_cost::setup_cost(recorder& owner) noexcept
    : m_of(owner), m_begin(base::may_call_system() ? base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) : 0) {}

recorder::setup_cost::~setup_cost() {
  if (!m_of.is_on() || m_begin == 0 || !base::may_call_system()) return;
  const std::uint64_t spent_ns = base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - m_begin;
  const auto spent = static_cast<std::uint64_t>(m_of.ticks_of_ns(static_cast<double>(spent_ns)));
  std::atomic_ref(m_of.m_process->setup_ticks).fetch_add(spent, std::memory_order_relaxed);
}

// counters.tt and switches.tt come into being with their first record: most processes of a run have neither.
void recorder::sample(std::uint32_t counter, std::uint32_t lane, double value, base::ticks at) noexcept {
  if (counter == 0 || (m_is_listed.load(std::memory_order_acquire) && sample_in_list(counter, lane, value, at))) return;
  append(m_counters_file, "counters.tt", file_kind::counters, samples_first_bytes,
         observe::sample{at, counter, lane, value, 0});
}

void recorder::add_switch(const event& record) noexcept {
  append(m_switches_file, "switches.tt", file_kind::switches, samples_first_bytes, record);
}

}  // namespace trimtab::observe

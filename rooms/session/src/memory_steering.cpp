#include "memory_steering.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/steer/memory_policy.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::session {

namespace {

constexpr const char* subject_name = "memory";
constexpr double window_s = 0.05;
constexpr double least_regions = 4, least_regions_a_second = 4;
constexpr double bad_share = steer::memory_policy_options{}.refault_share;
constexpr unsigned bad_windows = 2;
constexpr double least_faults = 4096;  // in a window that is worth a look
constexpr double most_rise = 0.2;      // of peak memory, unless the user says more
constexpr double asks_every_s = 0.25;  // how much of its memory the program does not use
constexpr double change_s = 1e-3;
constexpr std::uint32_t keep_knob = 0, huge_knob = 1;

double page_bytes() noexcept {
  static const auto bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// 0: not known.
double resident_bytes() noexcept {
  char text[128];
  unsigned long long size = 0, resident = 0;
  if (base::read_file("/proc/self/statm", text, sizeof text) <= 0) return 0;
  return std::sscanf(text, "%llu %llu", &size, &resident) == 2 ? static_cast<double>(resident) * page_bytes() : 0;
}

double peak_bytes() noexcept {
  char text[4096];
  unsigned long long kilobytes = 0;
  if (base::read_file("/proc/self/status", text, sizeof text) <= 0) return 0;
  const char* const line = std::strstr(text, "VmHWM:");
  return line != nullptr && std::sscanf(line, "VmHWM: %llu", &kilobytes) == 1 ? static_cast<double>(kilobytes) * 1024 : 0;
}

std::uint64_t regions_so_far() noexcept {
  std::uint64_t regions = 0;
  for (std::uint32_t i = 0, n = observe::the_recorder.lanes(); i < n; ++i)
    if (const observe::lane* const lane = observe::the_recorder.lane_at(i)) regions += lane->outermost_regions();
  return regions;
}

bool machine_gives_huge_pages() {
  char text[128];
  return base::read_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) > 0 && gives_on_advice(text);
}

steer::knob switch_named(std::string_view name, std::vector<std::string> values) {
  return {std::string(name),
          steer::certain(steer::domain::categories(std::move(values))),
          0,
          change_s,
          steer::consent::safe,
          0,
          {}};
}

}  // namespace

memory_steering::reading memory_steering::read(double now_s) const {
  return {now_s, observe::usage_of_process(), regions_so_far(), resident_bytes()};
}

memory_steering::window memory_steering::window_between(const reading& begin, const reading& latest) {
  const observe::cpu_usage used = latest.cpu.since(begin.cpu);
  window ended;
  ended.seconds = latest.time_s - begin.time_s;
  ended.regions = static_cast<double>(latest.regions - std::min(latest.regions, begin.regions));
  ended.program_s = static_cast<double>(used.program_ns) * 1e-9;
  const double kernel_s = static_cast<double>(used.kernel_ns) * 1e-9;
  ended.cpu_s = ended.program_s + kernel_s;
  if (ended.cpu_s <= 0) return ended;
  ended.kernel_share = kernel_s / ended.cpu_s;
  const double growth_bytes = std::max(latest.resident_bytes - begin.resident_bytes, 0.0);
  const double refaults = static_cast<double>(used.minor_faults) - growth_bytes / page_bytes();
  if (refaults < least_faults * ended.seconds / window_s) return ended;
  if (!m_page_cost)
    m_page_cost = observe::measured_page_cost(static_cast<std::size_t>(page_bytes())).value_or(observe::page_cost{});
  ended.refault_share = std::min(refaults * (m_page_cost->fault_s + m_page_cost->release_s), kernel_s) / ended.cpu_s;
  return ended;
}

void memory_steering::give_up(steer::snapshot& now, const char* reason) {
  m_is_ignored = true;
  if (m_is_known) m_registry.withdraw(now, m_id);
  observe::the_recorder.unavailable("settings of the allocator", reason, "trimtab tune tries those of the program's start");
}

bool memory_steering::make_known(steer::snapshot& now) {
  m_allocator = c_library_memory::find();
  if (!m_allocator) {
    give_up(now, "the program does not use the allocator of the GNU C library");
    return false;
  }
  m_id = observe::the_recorder.named_subject(observe::subject_kind::scope, subject_name, "", 0);
  if (m_id == observe::no_subject) {
    m_is_ignored = true;
    return false;
  }
  m_counts_regions = m_seen_regions >= least_regions_a_second * m_seen_s;
  m_has_huge_pages = machine_gives_huge_pages() && m_advice.begin();
  steer::subject_info info{m_id, subject_name, {switch_named(steer::knobs::keep_memory, {"as-is", "keep"})}};
  if (m_has_huge_pages) info.knobs.push_back(switch_named(steer::knobs::huge_pages, {"off", "on"}));
  const auto apply = [this](std::uint32_t knob, steer::knob_value to) {
    (knob == keep_knob ? m_wants_keep : m_wants_huge).store(to != 0, std::memory_order_relaxed);
    return true;
  };
  const auto confirm = [this](steer::decision_number number) { m_in_force.store(number, std::memory_order_release); };
  // Without a key: the next run begins with what `trimtab tune` has proved of its start.
  m_registry.offer(now, {info, "", 0, apply, confirm});
  return true;
}

void memory_steering::carry_out(const reading& latest) {
  const bool wants_keep = m_wants_keep.load(std::memory_order_relaxed),
             wants_huge = m_wants_huge.load(std::memory_order_relaxed);
  if (!m_allocator || (wants_keep == m_keeps && wants_huge == m_is_huge)) return;
  const base::system_call_section section;
  if (!section.is_permitted()) return;
  if (!m_keeps && !m_is_huge) m_peak_before = peak_bytes();
  if (wants_huge != m_is_huge && !(wants_huge ? m_advice.begin() : (m_advice.end(), true))) m_is_ignored = true;
  if (wants_keep != m_keeps && !(wants_keep ? m_allocator->keep() : m_allocator->restore())) m_is_ignored = true;
  m_keeps = wants_keep;
  m_is_huge = wants_huge;
  if (m_is_over && !m_keeps) m_allocator->give_back();
  m_is_over = false;
  m_checked_s = latest.time_s;
}

// Whether the process has more memory than it may because of the knobs. What the program itself has come to use is no rise.
bool memory_steering::watch(const reading& latest) {
  if (!m_keeps && !m_is_huge) return false;
  m_rise = m_peak_before > 0 ? std::max(peak_bytes() / m_peak_before - 1, 0.0) : 0;
  const auto limit = [this] {
    return m_most_bytes != 0 ? static_cast<double>(m_most_bytes) : (1 + most_rise) * m_peak_before;
  };
  if (m_peak_before <= 0 || latest.resident_bytes <= limit()) return m_is_over = false;
  if (m_is_over || latest.time_s - m_checked_s < asks_every_s) return m_is_over;
  m_checked_s = latest.time_s;
  const auto unused = static_cast<double>(m_allocator ? m_allocator->free_bytes().value_or(0) : 0);
  m_peak_before = std::max(m_peak_before, latest.resident_bytes - unused);
  return m_is_over = latest.resident_bytes > limit();
}

bool memory_steering::is_window_over(const reading& latest, steer::decision_number under) const {
  if (!m_begin || under != m_under) return true;
  if (latest.time_s - m_begin->time_s < window_s) return false;
  if (m_is_settling) return !m_is_huge || m_advice.is_settled();
  return !m_is_known || !m_counts_regions || static_cast<double>(latest.regions - m_begin->regions) >= least_regions;
}

void memory_steering::add_to(steer::snapshot& now) {
  if (m_is_ignored || now.is_last) return;
  const reading latest = read(now.time_s);
  const steer::decision_number under = m_in_force.load(std::memory_order_acquire);
  if (m_is_known) carry_out(latest);
  if (m_is_ignored) return give_up(now, "it refuses to be set");
  if (m_is_huge) m_advice.advance(now.time_s, static_cast<std::size_t>(latest.resident_bytes));
  const bool was_over = m_is_over;
  const bool is_over = watch(latest);
  const bool has_ended = is_window_over(latest, under);
  if (!has_ended && (!is_over || was_over)) return;
  window ended;
  if (m_begin) ended = window_between(*m_begin, latest);
  const bool is_settling = m_is_settling, is_first = !m_begin || m_under != under;
  m_begin = latest;
  m_under = under;
  m_is_settling = is_first && m_is_known;
  if (is_first || is_settling || ended.cpu_s <= 0) return;
  if (!m_is_known) {
    m_bad = ended.refault_share >= bad_share ? m_bad + 1 : 0;
    m_seen_s = m_bad == 0 ? 0 : m_seen_s + ended.seconds;
    m_seen_regions = m_bad == 0 ? 0 : m_seen_regions + ended.regions;
    if (m_bad >= bad_windows) m_is_known = make_known(now);
    return;
  }
  m_windows += 1;
  steer::subject_state state{m_id, {}, {}};
  const double time =
      m_counts_regions ? ended.seconds / std::max(ended.regions, 1.0) : ended.cpu_s / std::max(ended.program_s, 1e-9);
  if (has_ended) state.measured.push_back({under, time, ended.seconds});
  state.figures = {{std::string(steer::figures::refault_share), ended.refault_share},
                   {std::string(steer::figures::kernel_share), ended.kernel_share},
                   {std::string(steer::figures::memory_rise), m_rise},
                   {std::string(steer::figures::is_memory_over), is_over ? 1.0 : 0.0},
                   {std::string(steer::figures::windows), m_windows}};
  now.subjects.push_back(std::move(state));
}

void memory_steering::conclude() {
  if (!m_keeps && !m_is_huge) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", m_rise * 100);
  observe::the_recorder.fact("rise of peak memory, %", text);
}

}  // namespace trimtab::session

#include "trimtab/observe/cpu_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "probes/cgroup.hpp"
#include "probes/cpu.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/base/read_file.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t text_bytes = 128 * 1024;  // /proc/stat of 1,000 CPUs
constexpr unsigned windows_per_quota = 8;       // it seldom changes, and lies in many files

}  // namespace

cpu_watch::cpu_watch(const base::cpu_mask& allowed, const std::string& registry, std::string root)
    : m_root(std::move(root)), m_allowed(allowed), m_allowed_cpus(std::max(1u, allowed.count())), m_text(text_bytes) {
  m_has_cgroup = base::find_cpu_cgroup(m_root.c_str(), m_cgroup);
  if (!registry.empty()) m_registry.emplace(registry.c_str());
  begin();
}

cpu_watch::~cpu_watch() { leave(); }

void cpu_watch::leave() noexcept {
  if (m_registry) m_registry->leave();
}

cpu_watch::reading cpu_watch::read() {
  reading now;
  now.at_ns = base::monotonic_ns();
  now.own_ns = base::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (base::read_file((m_root + "/proc/stat").c_str(), m_text.data(), m_text.size()) > 0)
    if (const cpu_times times = cpu_times_in(m_text.data(), m_allowed); times.is_valid) now.idle_ticks = times.idle;
  if (m_has_cgroup && m_cgroup.quota > 0)
    if (const throttling stopped = read_throttling(m_cgroup); stopped.is_valid) now.throttled_us = stopped.throttled_us;
  return now;
}

void cpu_watch::begin() { m_before = read(); }

double cpu_watch::seconds() const noexcept { return static_cast<double>(base::monotonic_ns() - m_before.at_ns) * 1e-9; }

void cpu_watch::follow_affinity() noexcept {
  base::cpu_mask now;
  if (!base::read_affinity(now)) return;
  if (m_mine && std::memcmp(m_mine->bits, now.bits, sizeof now.bits) != 0) {
    m_allowed = now;
    m_allowed_cpus = std::max(1u, now.count());
    m_before.idle_ticks.reset();  // of other CPUs
  }
  m_mine = now;
}

cpu_window cpu_watch::end(std::uint32_t wanted) {
  follow_affinity();
  if (++m_windows % windows_per_quota == 0) m_has_cgroup = base::find_cpu_cgroup(m_root.c_str(), m_cgroup);
  const reading now = read();
  cpu_window window;
  window.seconds = std::max(1e-6, static_cast<double>(now.at_ns - m_before.at_ns) * 1e-9);
  window.allowed_cpus = m_allowed_cpus;
  window.quota_cpus = m_cgroup.quota;
  window.used_cpus = static_cast<double>(now.own_ns - m_before.own_ns) * 1e-9 / window.seconds;
  if (now.idle_ticks && m_before.idle_ticks) {
    const double passed = static_cast<double>(*now.idle_ticks - std::min(*now.idle_ticks, *m_before.idle_ticks));
    const double idle = passed / static_cast<double>(sysconf(_SC_CLK_TCK)) / window.seconds;
    window.idle_cpus = std::min(idle, m_allowed_cpus);
  }
  // The kernel counts each CPU on which the group was stopped.
  if (now.throttled_us && m_before.throttled_us && wanted > 0) {
    const double passed = static_cast<double>(*now.throttled_us - std::min(*now.throttled_us, *m_before.throttled_us));
    const double cpus = std::min(m_allowed_cpus, static_cast<double>(wanted));
    window.throttled_share = std::min(1.0, passed * 1e-6 / window.seconds / cpus);
  }
  m_before = now;
  if (!m_registry) return window;
  const double paid = window.quota_cpus > 0 ? std::max(1.0, std::floor(window.quota_cpus)) : m_allowed_cpus;
  const auto possible = static_cast<std::uint32_t>(std::min(paid, m_allowed_cpus));
  m_registry->beat(now.at_ns, std::min(wanted, possible), window.used_cpus, fold(m_allowed));
  if (m_registry->why_alone()[0] != '\0') return window;
  window.others = static_cast<std::uint32_t>(m_registry->others());
  for (const cpu_member& member : m_registry->members().subspan(1)) window.other_threads += member.wanted;
  window.registry_share = m_registry->share(m_allowed_cpus, window.idle_cpus.value_or(0));
  return window;
}

}  // namespace trimtab::observe

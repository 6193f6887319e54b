#include "cap_figures.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "run_delay.hpp"
#include "trimtab/steer/fitting/figures.hpp"

namespace trimtab::session {

namespace figures = steer::figures;

namespace {

constexpr double window_s = 0.15;

std::unique_ptr<observe::cpu_watch> watch() {
  base::cpu_mask allowed;
  if (!base::read_affinity(allowed)) std::memset(allowed.bits, 0xff, sizeof allowed.bits);
  char registry[512] = "";
  if (!observe::cpu_registry::path_for(geteuid(), std::getenv("XDG_RUNTIME_DIR"), registry)) registry[0] = '\0';
  return std::make_unique<observe::cpu_watch>(allowed, registry);
}

}  // namespace

cap_figures::cap_figures() : m_watch(watch()), m_delay_ns(read_run_delay()) {}

void cap_figures::add_to(std::vector<steer::figure>& into, std::uint32_t workers, std::uint32_t cap) {
  if (cap != m_cap) {
    m_cap = cap;
    m_delay_ns = read_run_delay();
    m_watch->begin();
  } else if (m_watch->seconds() >= window_s) {
    const observe::cpu_window ended = m_watch->end(workers);
    const std::uint64_t delay_ns = read_run_delay();
    const double delay_s = static_cast<double>(delay_ns - std::min(delay_ns, m_delay_ns)) * 1e-9;
    m_delay_ns = delay_ns;
    m_windows += 1;
    m_latest.clear();
    const auto tell = [this](std::string_view name, double value) { m_latest.push_back({std::string(name), value}); };
    tell(figures::run_delay_share, std::min(1.0, delay_s / ended.seconds / cap));
    if (ended.idle_cpus) tell(figures::idle_cpus, *ended.idle_cpus);
    if (ended.throttled_share) tell(figures::throttled_share, *ended.throttled_share);
    if (ended.others) {
      tell(figures::others, *ended.others);
      tell(figures::other_threads, ended.other_threads);
      tell(figures::registry_share, ended.registry_share);
    }
  }
  into.insert(into.end(), m_latest.begin(), m_latest.end());
  const auto add = [&into](std::string_view name, double value) { into.push_back({std::string(name), value}); };
  add(figures::windows, static_cast<double>(m_windows));
  add(figures::allowed_cpus, m_watch->allowed_cpus());
  add(figures::quota_cpus, m_watch->quota_cpus());
}

}  // namespace trimtab::session

#include "cap_figures.hpp"

#include <algorithm>

#include "run_delay.hpp"
#include "trimtab/options/environment.hpp"
#include "trimtab/options/run_options.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::task_steering {

namespace {

constexpr double window_s = 0.15;

}  // namespace

cap_figures::cap_figures()
    : m_watch(base::allowed_cpus(),
              observe::cpu_registry::default_path(options::value_of(options::runtime_directory_option))),
      m_delay_ns(read_run_delay()) {}

void cap_figures::add_to(std::vector<steer::figure>& figures, std::uint32_t workers, std::uint32_t cap) {
  if (cap != m_cap) {
    m_cap = cap;
    m_delay_ns = read_run_delay();
    m_watch.begin();
  } else if (m_watch.seconds() >= window_s) {
    const observe::cpu_window ended = m_watch.end(workers);
    const std::uint64_t delay_ns = read_run_delay();
    const double delay_s = static_cast<double>(delay_ns - std::min(delay_ns, m_delay_ns)) * 1e-9;
    m_delay_ns = delay_ns;
    m_windows += 1;
    m_latest = steer::figures_of(ended, delay_s, cap);
  }
  figures.insert(figures.end(), m_latest.begin(), m_latest.end());
  steer::add_figures_of(m_watch, m_windows, figures);
}

}  // namespace trimtab::task_steering

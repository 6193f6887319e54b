#include "machine_look.hpp"

#include <optional>

#include "trimtab/base/topology.hpp"
#include "trimtab/steer/thread_fitting/figures.hpp"

namespace trimtab::session {

namespace {

constexpr double machine_window_s = 0.15;

}  // namespace

machine_look::machine_look() : m_watch(base::allowed_cpus(), "") {}

void machine_look::add_to(std::vector<steer::figure>& figures) {
  if (!m_has_begun) {
    m_watch.begin();
    m_has_begun = true;
  } else if (m_watch.seconds() >= machine_window_s) {
    m_latest = steer::figures_of(m_watch.end(1), std::nullopt, 1);
    m_windows += 1;
  }
  figures.insert(figures.end(), m_latest.begin(), m_latest.end());
  steer::add_figures_of(m_watch, m_windows, figures);
}

}  // namespace trimtab::session

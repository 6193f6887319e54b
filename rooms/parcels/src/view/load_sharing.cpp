#include "trimtab/parcels/view/load_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace trimtab::parcels {

namespace {

// Marks that come with a view, besides its content.
constexpr std::size_t message_overhead = 64;

load_sharing_options checked(const load_sharing_options& settings) {
  if (const std::string problem = problem_of(settings); !problem.empty())
    throw std::invalid_argument("trimtab: load_sharing_options: " + problem);
  return settings;
}

}  // namespace

std::string problem_of(const load_sharing_options& settings) {
  if (settings.period_us < 100) return "period_us is " + std::to_string(settings.period_us) + ", at least 100 is possible";
  if (settings.rounds == 0 || settings.rounds > 1000) return "rounds must be 1 to 1000";
  if (settings.values > 1000) return "values must be 0 to 1000";
  if (!std::isfinite(settings.local_preference) || settings.local_preference < 0)
    return "local_preference must be a number from 0 on";
  return {};
}

load_sharing::load_sharing(std::uint32_t localities, locality_number self, const load_sharing_options& settings,
                           std::size_t most_bytes)
    : m_view({.localities = localities,
              .self = self,
              .values = own_values + checked(settings).values,
              .most_entries = job_view::entries_within(most_bytes - std::min(most_bytes, message_overhead),
                                                       own_values + settings.values)}),
      m_spreader(localities, self, {.messages = settings.messages, .fan_out = settings.fan_out, .seed = settings.seed}),
      m_placement(localities, self, {.seed = settings.seed + 0x1000'0000u, .local_preference = settings.local_preference}),
      m_values(own_values + settings.values),
      m_loads(localities) {}

// A locality whose tasks all end within a period has the same load at its end as before, and is not idle.
bool load_sharing::is_changed(const own_state& state) const {
  const job_view::entry& own = m_view.of(m_view.self());
  return own.version == 0 || state.tasks != 0 || state.finished != m_finished || own.values != m_values;
}

std::vector<locality_number> load_sharing::begin_round(const own_state& state, std::uint64_t periods) {
  if (periods != 0) {
    m_view.pass_periods(periods);
    m_placement.pass_periods(periods);
  }
  if (periods != 0 || m_view.of(m_view.self()).version == 0) {
    m_values[tasks_value] = state.tasks;
    m_values[workers_value] = state.workers;
    m_values[placed_value] = static_cast<double>(m_placement.sent());
    std::copy_n(state.values.begin(), std::min(state.values.size(), m_values.size() - own_values),
                m_values.begin() + own_values);
    m_is_active = is_changed(state);
    m_finished = state.finished;
    if (m_is_active) m_view.set_own(m_values);
  }
  return m_spreader.begin_round([this](locality_number peer) { return m_view.has_news_for(peer); });
}

bool load_sharing::is_silent() const {
  if (m_is_active) return false;
  for (locality_number other = 0; other < m_view.size(); ++other)
    if (other != m_view.self() && !is_gone(other) && m_view.has_news_for(other)) return false;
  return true;
}

void load_sharing::note_sent(locality_number to, std::span<const job_view::written_entry> entries) {
  m_view.note_sent(to, entries);
  m_spreader.on_view_sent(to);
}

bool load_sharing::merge(bytes_view content, locality_number from) {
  m_view.merge(content, from);
  return !is_gone(from) && m_view.has_news_for(from);
}

// Without this, all localities send their tasks to where the load was least some time ago.
double load_sharing::count_senders() const {
  const auto own = static_cast<double>(m_placement.sent());
  double sum = own;
  for (locality_number other = 0; other < m_view.size(); ++other)
    if (other != m_view.self() && !is_gone(other)) sum += m_view.of(other).values[placed_value];
  return own == 0 ? 1 : std::clamp(sum / own, 1.0, static_cast<double>(m_view.size()));
}

locality_number load_sharing::choose(double own_tasks) {
  for (locality_number which = 0; which < m_view.size(); ++which) {
    const job_view::entry& known = m_view.of(which);
    placement_load& load = m_loads[which];
    load.is_known = known.version != 0 || which == m_view.self();
    load.tasks = which == m_view.self() ? own_tasks : known.values[tasks_value];
    load.workers = known.values[workers_value];
    load.age = known.age;
    load.is_present = !is_gone(which);
  }
  return m_placement.choose(m_loads, count_senders());
}

}  // namespace trimtab::parcels

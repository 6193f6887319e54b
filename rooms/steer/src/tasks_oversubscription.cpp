#include "trimtab/steer/tasks_oversubscription.hpp"

#include <cstdio>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

void oversubscription::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id gone : now.gone) m_done.erase(gone);
  if (now.is_last) return;
  for (const subject_view& subject : now.subjects) {
    const auto place = subject.info.place_of(m_knob);
    if (!place || subject.is_others || m_done.contains(subject.info.id)) continue;
    const auto figure_named = [&](std::string_view name) { return figure_or(subject.figures, name, 0); };
    const double delay = figure_named(figures::run_delay_share), workless = figure_named(figures::workless_share);
    const double on_cpu = figure_named(figures::cpu_share), cpus = figure_named(figures::cpus);
    const bool is_waste = delay >= m_options.least_delay && workless >= m_options.least_workless;
    if (!(cpus >= 1) || !is_waste || !(on_cpu >= m_options.least_on_cpu)) continue;
    const domain& values = subject.info.knobs[*place].values;
    const knob_value to = values.at(values.nearest_index(static_cast<knob_value>(cpus)));
    if (to >= subject.in_force[*place]) continue;
    m_done.insert(subject.info.id);
    proposal proposed;
    proposed.subject = subject.info.id;
    proposed.what = outcome::set;
    proposed.changes = {{*place, to}};
    char text[128];
    std::snprintf(text, sizeof text,
                  "more workers than the %.0f CPUs: they wait for one %.0f %% of the time and have no task %.0f %% of it",
                  cpus, delay * 100, workless * 100);
    proposed.reason = text;
    proposed.evidence = {{std::string(figures::run_delay_share), delay},
                         {std::string(figures::workless_share), workless},
                         {std::string(figures::cpu_share), on_cpu},
                         {std::string(figures::cpus), cpus}};
    out.push_back(std::move(proposed));
  }
}

}  // namespace trimtab::steer

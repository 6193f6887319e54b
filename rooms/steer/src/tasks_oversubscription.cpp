#include "trimtab/steer/tasks_oversubscription.hpp"

#include <cstdio>

#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

void oversubscription::observe(const view& now, std::vector<proposal>& out) {
  for (const subject_id each : now.gone) m_done.erase(each);
  if (now.is_last) return;
  for (const subject_view& it : now.subjects) {
    const auto place = it.info.place_of(m_knob);
    if (!place || it.is_others || m_done.contains(it.info.id)) continue;
    const auto told = [&](std::string_view name) { return figure_or(it.figures, name, 0); };
    const double delay = told(figures::run_delay_share), workless = told(figures::workless_share);
    const double on_cpu = told(figures::cpu_share), cpus = told(figures::cpus);
    const bool is_waste = delay >= m_options.least_delay && workless >= m_options.least_workless;
    if (!(cpus >= 1) || !is_waste || !(on_cpu >= m_options.least_on_cpu)) continue;
    const domain& values = it.info.knobs[*place].values;
    const knob_value to = values.at(values.nearest_index(static_cast<knob_value>(cpus)));
    if (to >= it.in_force[*place]) continue;
    m_done.insert(it.info.id);
    proposal made;
    made.subject = it.info.id;
    made.what = outcome::set;
    made.changes = {{*place, to}};
    char text[128];
    std::snprintf(text, sizeof text,
                  "more workers than the %.0f CPUs: they wait for one %.0f %% of the time and have no task %.0f %% of it",
                  cpus, delay * 100, workless * 100);
    made.reason = text;
    made.evidence = {{std::string(figures::run_delay_share), delay},
                     {std::string(figures::workless_share), workless},
                     {std::string(figures::cpu_share), on_cpu},
                     {std::string(figures::cpus), cpus}};
    out.push_back(std::move(made));
  }
}

}  // namespace trimtab::steer

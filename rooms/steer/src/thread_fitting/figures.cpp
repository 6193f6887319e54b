#include "trimtab/steer/thread_fitting/figures.hpp"

#include <algorithm>

namespace trimtab::steer {

bool has_lost_enough(double run_delay_s, double so_far_s, double window_s) noexcept {
  return so_far_s >= window_s / 2 && run_delay_s >= lost_at_once * std::max(window_s, so_far_s);
}

std::vector<figure> figures_of(const observe::cpu_window& ended, std::optional<double> run_delay_s, std::uint32_t members) {
  std::vector<figure> figures;
  const auto add = [&figures](std::string_view name, double value) { figures.push_back({std::string(name), value}); };
  if (run_delay_s) add(figures::run_delay_share, std::min(1.0, *run_delay_s / ended.seconds / members));
  if (ended.idle_cpus) add(figures::idle_cpus, *ended.idle_cpus);
  if (ended.throttled_share) add(figures::throttled_share, *ended.throttled_share);
  if (!ended.others) return figures;
  add(figures::others, *ended.others);
  add(figures::other_threads, ended.other_threads);
  add(figures::registry_share, ended.registry_share);
  return figures;
}

void add_figures_of(const observe::cpu_watch& machine, std::uint64_t windows, std::vector<figure>& figures_out) {
  figures_out.push_back({std::string(figures::windows), static_cast<double>(windows)});
  figures_out.push_back({std::string(figures::allowed_cpus), machine.allowed_cpus()});
  figures_out.push_back({std::string(figures::quota_cpus), machine.quota_cpus()});
}

}  // namespace trimtab::steer

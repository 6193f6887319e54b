#include "trimtab/steer/diagnosis.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace trimtab::steer {

namespace {

struct rule {
  std::string_view cause;
  std::string_view figure;
  double least_strength;
  // Share of the subject's time, from the figure and, where it takes one, another.
  double (*strength)(double value, double other);
  std::string_view other;
  const char* text;  // with the figure's value, or the strength in percent
  bool is_percent;
};

constexpr rule rules[] = {
    {causes::imbalance, figures::imbalance, 0.05, [](double value, double) { return value > 1 ? 1 - 1 / value : 0; }, "",
     "the slowest lane has %.2f times the mean work", false},
    {causes::too_small, figures::instance_seconds, 0.1,
     [](double value, double overhead) { return value > 0 ? std::min(0.9, overhead / value) : 0; },
     figures::overhead_seconds, "%.0f %% of its time is the cost of starting and ending it", true},
    {causes::oversubscription, figures::run_delay_share, 0.03, [](double value, double) { return std::min(value, 0.95); },
     "", "its threads wait for a CPU %.0f %% of the time", true},
    {causes::starvation, figures::idle_share, 0.1, [](double value, double) { return std::min(value, 0.95); }, "",
     "%.0f %% of the CPUs are idle", true},
};

double either(const std::vector<figure>& of_subject, const std::vector<figure>& of_process, std::string_view name) {
  return figure_or(of_subject, name, figure_or(of_process, name, 0));
}

}  // namespace

std::vector<finding> diagnose(const std::vector<figure>& of_subject, const std::vector<figure>& of_process) {
  std::vector<finding> all;
  for (const rule& rule : rules) {
    const double value = either(of_subject, of_process, rule.figure);
    const double strength = rule.strength(value, either(of_subject, of_process, rule.other));
    if (!(strength >= rule.least_strength)) continue;
    char text[128];
    std::snprintf(text, sizeof text, rule.text, rule.is_percent ? strength * 100 : value);
    all.push_back({std::string(rule.cause), strength, text, {std::string(rule.figure), value}});
  }
  std::sort(all.begin(), all.end(), [](const finding& a, const finding& b) {
    return std::tie(b.strength, a.cause) < std::tie(a.strength, b.cause);
  });
  return all;
}

std::vector<point> hints_of(const std::vector<finding>& findings, const std::vector<knob>& knobs, const point& start) {
  std::vector<point> all;
  for (const finding& finding : findings) {
    // The first hint has every knob's first value for this cause, the second its second (or last), and so on.
    for (std::size_t rank = 0, ranks = 1; rank < ranks; ++rank) {
      point hint = start;
      for (std::size_t i = 0; i < knobs.size(); ++i)
        for (const remedy& remedy : knobs[i].remedies) {
          if (remedy.cause != finding.cause || remedy.values.empty()) continue;
          ranks = std::max(ranks, remedy.values.size());
          hint[i] = static_cast<std::uint32_t>(
              knobs[i].values.nearest_index(remedy.values[std::min(rank, remedy.values.size() - 1)]));
        }
      if (hint != start && std::find(all.begin(), all.end(), hint) == all.end()) all.push_back(std::move(hint));
    }
  }
  return all;
}

}  // namespace trimtab::steer

#include "trimtab/steer/tasks_advice.hpp"

#include "printed.hpp"
#include "trimtab/steer/tasks_figures.hpp"

namespace trimtab::steer {

namespace {

// Less is not worth changing anything.
constexpr double much_idle = 0.2;
constexpr double uneven = 1.25;
// A steal costs as much as some tens of queue operations: below a length, many of them cost as much as the tasks.
constexpr double many_steals = 0.1;
constexpr double short_task_s = 20e-6;

}  // namespace

std::optional<advice> advise_policy(std::string_view policy, std::uint32_t workers, const std::vector<figure>& of) {
  if (workers < 2) return std::nullopt;
  const double idle = figure_or(of, figures::idle_share, 0), imbalance = figure_or(of, figures::imbalance, 1);
  const double steals = figure_or(of, figures::steal_share, 0), task_s = figure_or(of, figures::task_seconds, 1);
  if (policy == "static-priority" && idle > much_idle && imbalance > uneven)
    return advice{"local-priority",
                  printed("workers are idle %.0f %% of the time, the busiest has %.2f times the mean work, and "
                          "static-priority lets nobody take over what others have",
                          idle * 100, imbalance)};
  if (policy == "periodic-priority" && idle > much_idle && steals < many_steals)
    return advice{"local-priority",
                  printed("workers are idle %.0f %% of the time, and periodic-priority offers tasks to them "
                          "now and then only",
                          idle * 100)};
  const bool is_fifo = policy != "abp-priority" && policy != "static-priority";
  if (is_fifo && steals > many_steals && task_s < short_task_s)
    return advice{"abp-priority",
                  printed("%.0f %% of the tasks are stolen, which are %.1f us long; abp-priority leaves the newest "
                          "to their maker and thieves the oldest, which are mostly larger",
                          steals * 100, task_s * 1e6)};
  return std::nullopt;
}

}  // namespace trimtab::steer

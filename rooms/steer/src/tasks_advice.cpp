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
// Forks that nobody has stolen are called by their forker, whatever the policy: only of tasks in queues it says which is
// next.
constexpr double mostly = 0.5;
// A longer one has had more data than a cache holds.
constexpr double cached_task_s = 1e-3;

}  // namespace

std::vector<advice> advised_policies(std::string_view policy, std::uint32_t workers, const std::vector<figure>& figures) {
  std::vector<advice> advice_list;
  const double idle = figure_or(figures, figures::idle_share, 0), imbalance = figure_or(figures, figures::imbalance, 1);
  const double steals = figure_or(figures, figures::steal_share, 0), task_s = figure_or(figures, figures::task_seconds, 1);
  const double queued = figure_or(figures, figures::queued_share, 0);
  const bool has_others = workers > 1, is_fifo = policy != "abp-priority" && policy != "static-priority";
  if (has_others && policy == "static-priority" && idle > much_idle && imbalance > uneven)
    advice_list.push_back(
        {"local-priority", printed("workers are idle %.0f %% of the time, the busiest has %.2f times the mean work, and "
                                   "static-priority lets nobody take over what others have",
                                   idle * 100, imbalance)});
  if (has_others && policy == "periodic-priority" && idle > much_idle && steals < many_steals)
    advice_list.push_back(
        {"local-priority", printed("workers are idle %.0f %% of the time, and periodic-priority offers tasks to them "
                                   "now and then only",
                                   idle * 100)});
  if (has_others && is_fifo && steals > many_steals && task_s < short_task_s)
    advice_list.push_back(
        {"abp-priority", printed("%.0f %% of the tasks are stolen, which are %.1f us long; abp-priority leaves the newest "
                                 "to their maker and thieves the oldest, which are mostly larger",
                                 steals * 100, task_s * 1e6)});
  else if (is_fifo && queued > mostly && task_s < cached_task_s)
    advice_list.push_back(
        {"abp-priority", printed("%.0f %% of the tasks come out of queues, %.1f us long; abp-priority takes the newest, "
                                 "whose data their maker has just had in its cache",
                                 queued * 100, task_s * 1e6)});
  return advice_list;
}

std::optional<advice> advise_policy(std::string_view policy, std::uint32_t workers, const std::vector<figure>& figures) {
  const std::vector<advice> advice_list = advised_policies(policy, workers, figures);
  return advice_list.empty() ? std::nullopt : std::optional(advice_list.front());
}

}  // namespace trimtab::steer

// The quadratic assignment problem by branch and bound: which facility goes where, so that flow times distance is least. A
// task for each place of the first few facilities; all share the least cost so far.
#include <algorithm>
#include <array>
#include <atomic>

#include "program.hpp"

namespace programs::qap {

constexpr std::int64_t max_sites = 16, task_depth = 3;

struct problem {
  explicit problem(std::int64_t sites) : size(std::min(sites, max_sites)) {
    random_numbers random(3);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        flow[index(i)][index(j)] = flow[index(j)][index(i)] = static_cast<int>(random.random_below(10));
        distance[index(i)][index(j)] = distance[index(j)][index(i)] = static_cast<int>(1 + random.random_below(9));
      }
  }
  std::int64_t size;
  std::array<std::array<int, max_sites>, max_sites> flow{}, distance{};
  std::atomic<int> best_cost{1 << 30};
};

struct assignment {
  std::array<std::int8_t, max_sites> site{};
  std::int64_t count = 0;
  std::uint32_t used_sites = 0;
  int cost = 0;
};

template <class how>
void assign(const assignment& so_far, problem& instance) {
  if (so_far.count == instance.size) {
    for (int current = instance.best_cost.load();
         so_far.cost < current && !instance.best_cost.compare_exchange_weak(current, so_far.cost);) {
    }
    return;
  }
  const auto deferred = [&instance](const assignment& current) {
    return [&instance, current] { assign<how>(current, instance); };
  };
  std::vector<decltype(how::async(deferred(so_far)))> tasks;
  const std::size_t facility = index(so_far.count);
  for (std::int64_t site = 0; site < instance.size; ++site) {
    if ((so_far.used_sites >> site & 1) != 0) continue;
    assignment next = so_far;
    next.site[facility] = static_cast<std::int8_t>(site);
    next.count += 1;
    next.used_sites |= 1u << site;
    for (std::size_t i = 0; i < facility; ++i)
      next.cost += instance.flow[facility][i] * instance.distance[index(site)][index(so_far.site[i])];
    if (next.cost >= instance.best_cost.load(std::memory_order_relaxed)) continue;
    if (so_far.count < task_depth)
      tasks.push_back(how::async(deferred(next)));
    else
      assign<how>(next, instance);
  }
  get_all(tasks);
}

template <class how>
std::int64_t answer(std::int64_t sites) {
  problem instance(sites);
  assign<how>({}, instance);
  return instance.best_cost.load();
}

}  // namespace programs::qap

const programs::program programs::qap_program = {"qap", "facilities, at most 16", 9, qap::answer<by_tasks>,
                                                 qap::answer<serially>};

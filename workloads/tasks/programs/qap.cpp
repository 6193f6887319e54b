// The quadratic assignment problem by branch and bound: which facility goes where, so that flow times distance is least. A
// task for each place of the first few facilities; all share the least cost so far.
#include <algorithm>
#include <array>
#include <atomic>

#include "program.hpp"

namespace programs::qap {

constexpr std::int64_t most = 16, task_depth = 3;

struct problem {
  explicit problem(std::int64_t sites) : size(std::min(sites, most)) {
    random_numbers random(3);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        flow[index(i)][index(j)] = flow[index(j)][index(i)] = static_cast<int>(random.below(10));
        distance[index(i)][index(j)] = distance[index(j)][index(i)] = static_cast<int>(1 + random.below(9));
      }
  }
  std::int64_t size;
  std::array<std::array<int, most>, most> flow{}, distance{};
  std::atomic<int> least{1 << 30};
};

struct assignment {
  std::array<std::int8_t, most> site{};
  std::int64_t count = 0;
  std::uint32_t taken = 0;
  int cost = 0;
};

template <class how>
void assign(const assignment& so_far, problem& of) {
  if (so_far.count == of.size) {
    for (int now = of.least.load(); so_far.cost < now && !of.least.compare_exchange_weak(now, so_far.cost);) {
    }
    return;
  }
  const auto later = [&of](const assignment& with) { return [&of, with] { assign<how>(with, of); }; };
  std::vector<decltype(how::async(later(so_far)))> tasks;
  const std::size_t facility = index(so_far.count);
  for (std::int64_t site = 0; site < of.size; ++site) {
    if ((so_far.taken >> site & 1) != 0) continue;
    assignment next = so_far;
    next.site[facility] = static_cast<std::int8_t>(site);
    next.count += 1;
    next.taken |= 1u << site;
    for (std::size_t i = 0; i < facility; ++i)
      next.cost += of.flow[facility][i] * of.distance[index(site)][index(so_far.site[i])];
    if (next.cost >= of.least.load(std::memory_order_relaxed)) continue;
    if (so_far.count < task_depth)
      tasks.push_back(how::async(later(next)));
    else
      assign<how>(next, of);
  }
  get_all(tasks);
}

template <class how>
std::int64_t answer(std::int64_t sites) {
  problem all(sites);
  assign<how>({}, all);
  return all.least.load();
}

}  // namespace programs::qap

const programs::program programs::qap_program = {"qap", "facilities, at most 16", 9, qap::answer<by_tasks>,
                                                 qap::answer<serially>};

// Cars cross a town of crossings: a task for each car and round, which holds the mutexes of the crossing that the car leaves
// and of the one that it enters.
#include <algorithm>
#include <mutex>

#include "program.hpp"

namespace programs::intersim {

constexpr std::int64_t edge = 16, cars = 256, hops = 8;

template <class how>
struct crossing {
  typename how::mutex lock;
  std::int64_t passed = 0;
  std::int64_t inside = 0;
};

struct car {
  random_numbers random;
  std::int64_t at;
};

std::int64_t neighbour(std::int64_t at, std::int64_t direction) noexcept {
  const std::int64_t x = at % edge, y = at / edge;
  const std::int64_t to_x = (x + (direction == 0) + (edge - 1) * (direction == 1)) % edge;
  const std::int64_t to_y = (y + (direction == 2) + (edge - 1) * (direction == 3)) % edge;
  return to_y * edge + to_x;
}

template <class how>
void drive(car& moved, std::vector<crossing<how>>& town) {
  for (std::int64_t i = 0; i < hops; ++i) {
    const std::int64_t to = neighbour(moved.at, moved.random.below(4));
    // In the order of their numbers, so that no two cars wait for each other.
    crossing<how>&first = town[index(std::min(moved.at, to))], &second = town[index(std::max(moved.at, to))];
    const std::scoped_lock one(first.lock);
    const std::scoped_lock other(second.lock);
    town[index(moved.at)].inside -= 1;
    town[index(to)].inside += 1;
    town[index(to)].passed += 1;
    moved.at = to;
  }
}

template <class how>
std::int64_t answer(std::int64_t rounds) {
  std::vector<crossing<how>> town(index(edge * edge));
  std::vector<car> all;
  for (std::int64_t i = 0; i < cars; ++i) {
    all.push_back({random_numbers(static_cast<std::uint64_t>(i)), i % (edge * edge)});
    town[index(all.back().at)].inside += 1;
  }
  const auto later = [&](car& moved) { return [&moved, &town] { drive<how>(moved, town); }; };
  for (std::int64_t round = 0; round < rounds; ++round) {
    std::vector<decltype(how::async(later(all[0])))> tasks;
    for (car& each : all) tasks.push_back(how::async(later(each)));
    get_all(tasks);
  }
  std::int64_t found = 0;
  for (const crossing<how>& each : town) found = found * 31 + each.passed * 7 + each.inside;
  return found;
}

}  // namespace programs::intersim

const programs::program programs::intersim_program = {"intersim", "rounds", 3000, intersim::answer<by_tasks>,
                                                      intersim::answer<serially>};

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
  std::int64_t car_count = 0;
};

struct car {
  random_numbers random;
  std::int64_t position;
};

std::int64_t neighbour(std::int64_t index, std::int64_t direction) noexcept {
  const std::int64_t x = index % edge, y = index / edge;
  const std::int64_t to_x = (x + (direction == 0) + (edge - 1) * (direction == 1)) % edge;
  const std::int64_t to_y = (y + (direction == 2) + (edge - 1) * (direction == 3)) % edge;
  return to_y * edge + to_x;
}

template <class how>
void drive(car& moved, std::vector<crossing<how>>& town) {
  for (std::int64_t i = 0; i < hops; ++i) {
    const std::int64_t destination = neighbour(moved.position, moved.random.random_below(4));
    // In the order of their numbers, so that no two cars wait for each other.
    crossing<how>&first = town[index(std::min(moved.position, destination))],
    &second = town[index(std::max(moved.position, destination))];
    const std::scoped_lock first_lock(first.lock);
    const std::scoped_lock second_lock(second.lock);
    town[index(moved.position)].car_count -= 1;
    town[index(destination)].car_count += 1;
    town[index(destination)].passed += 1;
    moved.position = destination;
  }
}

template <class how>
std::int64_t answer(std::int64_t rounds) {
  std::vector<crossing<how>> town(index(edge * edge));
  std::vector<car> vehicles;
  for (std::int64_t i = 0; i < cars; ++i) {
    vehicles.push_back({random_numbers(static_cast<std::uint64_t>(i)), i % (edge * edge)});
    town[index(vehicles.back().position)].car_count += 1;
  }
  const auto deferred = [&](car& moved) { return [&moved, &town] { drive<how>(moved, town); }; };
  for (std::int64_t round = 0; round < rounds; ++round) {
    std::vector<decltype(how::async(deferred(vehicles[0])))> tasks;
    for (car& each : vehicles) tasks.push_back(how::async(deferred(each)));
    get_all(tasks);
  }
  std::int64_t total = 0;
  for (const crossing<how>& element : town) total = total * 31 + element.passed * 7 + element.car_count;
  return total;
}

}  // namespace programs::intersim

const programs::program programs::intersim_program = {"intersim", "rounds", 3000, intersim::answer<by_tasks>,
                                                      intersim::answer<serially>};

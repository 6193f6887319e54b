// Villages in a tree, each with patients who fall ill, wait, are treated there or sent to the village above: a task for each
// village and step (after the Columbian health care simulation of BOTS). Each village draws its own random numbers.
#include <memory>

#include "program.hpp"

namespace programs::health {

constexpr int branches = 4, levels = 5, people = 20, treated_in_a_step = 2;

struct village {
  explicit village(int level, std::uint64_t seed) : random(seed), healthy(people) {
    for (int i = 0; level > 1 && i < branches; ++i)
      children.push_back(std::make_unique<village>(level - 1, seed * branches + static_cast<std::uint64_t>(i) + 1));
  }
  random_numbers random;
  int healthy, waiting = 0;
  std::int64_t treated = 0, sent = 0;
  int sent_now = 0;
  std::vector<std::unique_ptr<village>> children;
};

void step(village& home) {
  int ill = 0;
  for (int i = 0; i < home.healthy; ++i) ill += home.random.random_below(100) < 12;
  home.healthy -= ill;
  home.waiting += ill;
  for (const auto& element : home.children) home.waiting += element->sent_now;
  home.sent_now = 0;
  for (int i = 0; i < treated_in_a_step && home.waiting > 0; ++i) {
    home.waiting -= 1;
    if (home.random.random_below(10) == 0) {
      home.sent_now += 1;
      home.sent += 1;
    } else {
      home.treated += 1;
    }
    home.healthy += 1;
  }
}

template <class how>
void simulate(village& home) {
  const auto deferred = [](village& child) { return [&child] { simulate<how>(child); }; };
  std::vector<decltype(how::async(deferred(home)))> tasks;
  for (const auto& element : home.children) tasks.push_back(how::async(deferred(*element)));
  get_all(tasks);
  step(home);
}

std::int64_t sum(const village& home) {
  std::int64_t total = home.treated * 3 + home.sent * 7 + home.waiting;
  for (const auto& element : home.children) total = total * 31 + sum(*element);
  return total;
}

template <class how>
std::int64_t answer(std::int64_t steps) {
  village top(levels, 1);
  for (std::int64_t i = 0; i < steps; ++i) simulate<how>(top);
  return sum(top);
}

}  // namespace programs::health

const programs::program programs::health_program = {"health", "steps", 5000, health::answer<by_tasks>,
                                                    health::answer<serially>};

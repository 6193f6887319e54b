// Villages in a tree, each with patients who fall ill, wait, are treated there or sent to the village above: a task for each
// village and step (after the Columbian health care simulation of BOTS). Each village draws its own random numbers.
#include <memory>

#include "program.hpp"

namespace programs::health {

constexpr int branches = 4, levels = 5, people = 20, treated_in_a_step = 2;

struct village {
  explicit village(int level, std::uint64_t seed) : random(seed), healthy(people) {
    for (int i = 0; level > 1 && i < branches; ++i)
      below.push_back(std::make_unique<village>(level - 1, seed * branches + static_cast<std::uint64_t>(i) + 1));
  }
  random_numbers random;
  int healthy, waiting = 0;
  std::int64_t treated = 0, sent = 0;
  int sent_now = 0;
  std::vector<std::unique_ptr<village>> below;
};

void step(village& here) {
  int ill = 0;
  for (int i = 0; i < here.healthy; ++i) ill += here.random.below(100) < 12;
  here.healthy -= ill;
  here.waiting += ill;
  for (const auto& each : here.below) here.waiting += each->sent_now;
  here.sent_now = 0;
  for (int i = 0; i < treated_in_a_step && here.waiting > 0; ++i) {
    here.waiting -= 1;
    if (here.random.below(10) == 0) {
      here.sent_now += 1;
      here.sent += 1;
    } else {
      here.treated += 1;
    }
    here.healthy += 1;
  }
}

template <class how>
void simulate(village& here) {
  const auto later = [](village& which) { return [&which] { simulate<how>(which); }; };
  std::vector<decltype(how::async(later(here)))> tasks;
  for (const auto& each : here.below) tasks.push_back(how::async(later(*each)));
  get_all(tasks);
  step(here);
}

std::int64_t sum(const village& here) {
  std::int64_t found = here.treated * 3 + here.sent * 7 + here.waiting;
  for (const auto& each : here.below) found = found * 31 + sum(*each);
  return found;
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

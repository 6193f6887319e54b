// Tasks in a ring: each holds the mutexes of its own place and of the next one while it moves what is there.
#include <algorithm>
#include <mutex>

#include "program.hpp"

namespace programs::round {

constexpr std::int64_t places = 512, moves = 20;

template <class how>
struct place {
  typename how::mutex lock;
  std::int64_t held = 1000;
  std::int64_t moved = 0;
};

template <class how>
void move(std::int64_t spot, std::vector<place<how>>& ring) {
  const std::int64_t next = (spot + 1) % places;
  place<how>&first = ring[index(std::min(spot, next))], &second = ring[index(std::max(spot, next))];
  for (std::int64_t i = 0; i < moves; ++i) {
    const std::scoped_lock first_lock(first.lock);
    const std::scoped_lock second_lock(second.lock);
    ring[index(spot)].held -= 1;
    ring[index(next)].held += 1;
    ring[index(spot)].moved += 1;
  }
}

template <class how>
std::int64_t answer(std::int64_t rounds) {
  std::vector<place<how>> ring(index(places));
  const auto deferred = [&ring](std::int64_t index) { return [&ring, index] { move<how>(index, ring); }; };
  for (std::int64_t i = 0; i < rounds; ++i) {
    std::vector<decltype(how::async(deferred(0)))> tasks;
    for (std::int64_t index = 0; index < places; ++index) tasks.push_back(how::async(deferred(index)));
    get_all(tasks);
  }
  std::int64_t total = 0;
  for (const place<how>& element : ring) total = total * 31 + element.held * 7 + element.moved;
  return total;
}

}  // namespace programs::round

const programs::program programs::round_program = {"round", "rounds", 500, round::answer<by_tasks>, round::answer<serially>};

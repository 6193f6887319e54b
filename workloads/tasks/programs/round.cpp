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
void move(std::int64_t at, std::vector<place<how>>& ring) {
  const std::int64_t next = (at + 1) % places;
  place<how>&first = ring[index(std::min(at, next))], &second = ring[index(std::max(at, next))];
  for (std::int64_t i = 0; i < moves; ++i) {
    const std::scoped_lock one(first.lock);
    const std::scoped_lock other(second.lock);
    ring[index(at)].held -= 1;
    ring[index(next)].held += 1;
    ring[index(at)].moved += 1;
  }
}

template <class how>
std::int64_t answer(std::int64_t rounds) {
  std::vector<place<how>> ring(index(places));
  const auto later = [&ring](std::int64_t at) { return [&ring, at] { move<how>(at, ring); }; };
  for (std::int64_t i = 0; i < rounds; ++i) {
    std::vector<decltype(how::async(later(0)))> tasks;
    for (std::int64_t at = 0; at < places; ++at) tasks.push_back(how::async(later(at)));
    get_all(tasks);
  }
  std::int64_t found = 0;
  for (const place<how>& each : ring) found = found * 31 + each.held * 7 + each.moved;
  return found;
}

}  // namespace programs::round

const programs::program programs::round_program = {"round", "rounds", 500, round::answer<by_tasks>, round::answer<serially>};

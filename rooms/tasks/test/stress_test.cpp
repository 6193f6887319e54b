// Many tasks, with delays where they hurt, in as many orders as the seed gives. TRIMTAB_STRESS=1: 10^8 tasks.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {
namespace {

std::uint64_t tasks_to_run() {
  return std::getenv("TRIMTAB_STRESS") != nullptr ? 100'000'000 : 200'000 / static_cast<std::uint64_t>(slower);
}

class stress : public on_policies {};
INSTANTIATE_TEST_SUITE_P(tasks, stress, all_policies({1, 2, 4}), name_of_case);

// Sometimes long enough for others to go to sleep, or to overtake in the middle of what they do.
void delay(std::uint64_t random) {
  if (random % 64 == 0) sched_yield();
  if (random % 1024 == 1) std::this_thread::sleep_for(std::chrono::microseconds(random % 200));
  for (std::uint64_t i = 0; i < random % 50; ++i) asm volatile("");
}

// A tree whose form, ways of waiting, priorities and delays come from the seed: how many nodes it has is known.
std::uint64_t grow(std::uint64_t seed, std::uint64_t nodes) {
  delay(seed);
  if (nodes <= 1) return nodes;
  const std::uint64_t left = 1 + base::mix(seed) % (nodes - 1), right = nodes - left;
  const std::uint64_t one_seed = base::mix(seed + 1), other_seed = base::mix(seed + 2);
  std::uint64_t low = 0, high = 0;
  switch (seed % 8) {
    case 0: {
      auto deferred = async(static_cast<priority>(other_seed % 3), grow, other_seed, right);
      low = grow(one_seed, left);
      high = deferred.get();
      break;
    }
    case 1: {
      auto first = async(grow, one_seed, left);
      auto second = async(grow, other_seed, right);
      return dataflow([](future<std::uint64_t> a, future<std::uint64_t> b) { return a.get() + b.get(); }, std::move(first),
                      std::move(second))
          .get();
    }
    case 2: {
      promise<std::uint64_t> source;
      auto input = source.get_future();
      post([&source, one_seed, left] { source.set_value(grow(one_seed, left)); });
      high = grow(other_seed, right);
      low = input.get();
      break;
    }
    case 3: {
      task_scope scope;
      scope.spawn([&] { low = grow(one_seed, left); });
      scope.spawn([&] { high = grow(other_seed, right); });
      scope.wait();
      break;
    }
    default:
      invoke([&] { low = grow(one_seed, left); }, [&] { high = grow(other_seed, right); });
  }
  return low + high;
}

TEST_P(stress, random_trees_are_whole) {
  runtime rt(options());
  const std::uint64_t seed = 1;
  for (std::uint64_t round = 0; round < 5; ++round) {
    const std::uint64_t nodes = 20'000 / static_cast<std::uint64_t>(slower);
    ASSERT_EQ(rt.run([&] { return grow(base::mix(seed + round), nodes); }), nodes) << "round " << round;
  }
}

TEST_P(stress, waves_of_tasks_from_one_producer) {
  runtime rt(options());
  const std::uint64_t count = tasks_to_run(), wave = std::min<std::uint64_t>(count, 100'000);
  std::atomic<std::uint64_t> runs{0};
  rt.run([&] {
    for (std::uint64_t begin = 0; begin < count; begin += wave) {
      task_scope scope;
      for (std::uint64_t i = 0; i < wave; ++i) scope.spawn([&] { runs.fetch_add(1, std::memory_order_relaxed); });
      scope.wait();
    }
  });
  EXPECT_EQ(runs.load(), (count + wave - 1) / wave * wave);
}

int depth_by_second(int left) {
  if (left == 0) return 0;
  int deeper = 0;
  invoke([] {}, [&] { deeper = depth_by_second(left - 1); });
  return deeper + 1;
}

TEST_P(stress, recursion_a_hundred_thousand_deep) {
  runtime rt(options());
  const int depth = 100'000 / slower;
  EXPECT_EQ(rt.run([&] { return depth_by_second(depth); }), depth);
}

TEST(many_tasks, forks_of_one_tree) {
  for (const std::uint32_t workers : {1u, 2u, 3u}) {
    runtime rt({.workers = workers, .deadlock_ms = 0});
    const std::function<std::uint64_t(std::uint64_t)> halves = [&](std::uint64_t leaves) -> std::uint64_t {
      if (leaves == 1) return 1;
      std::uint64_t first = 0, second = 0;
      invoke([&] { first = halves(leaves / 2); }, [&] { second = halves(leaves - leaves / 2); });
      return first + second;
    };
    EXPECT_EQ(rt.run([&] { return halves(tasks_to_run()); }), tasks_to_run());
  }
}

}  // namespace
}  // namespace trimtab::tasks

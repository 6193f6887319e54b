// The protocols without locks, on a machine that tries their interleavings. Each checker is shown to find a mistake.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#define TRIMTAB_INTERLEAVED trimtab_interleaved
#include "interleaved.hpp"

#define trimtab trimtab_interleaved
#define TRIMTAB_ASK_CURRENT
#include "../src/asymmetric_fence.cpp"
#include "../src/event_count.cpp"
#include "../src/queues.cpp"
#include "../src/task_deque.cpp"
#include "../src/waiting.cpp"
#include "policies/abp_priority.hpp"
#include "policies/hierarchy.hpp"
#include "policies/local.hpp"
#include "policies/local_priority.hpp"
#include "policies/periodic_priority.hpp"
#include "policies/static_priority.hpp"
// After these, which it uses.
#include "interleaved_tasks.hpp"

namespace trimtab::tasks {
namespace {

// A queue with its owner and thieves, and how often each task was taken.
struct queue_model {
  explicit queue_model(task_deque::offering offers) : deque(offers, 4) {}

  void push() { deque.push(tasks.at(pushed++)); }
  void took(const task* item) { times_taken.at(static_cast<std::size_t>(item - tasks.data())) += 1; }
  void pop_newest() {
    bool is_offered = false;
    if (task* const item = deque.pop_newest(is_offered)) took(item);
  }
  void pop_oldest() {
    bool is_offered = false;
    if (task* const item = deque.pop_oldest(is_offered)) took(item);
  }
  void claim(std::size_t remaining) {
    if (pushed < remaining) return;
    if (deque.claim(tasks[pushed - remaining])) took(&tasks[pushed - remaining]);
  }
  void steal(std::size_t limit) {
    std::array<task*, 4> batch{};
    const std::size_t count = deque.steal(batch.data(), limit);
    for (std::size_t i = 0; i < count; ++i) took(batch[i]);
  }
  std::string verdict() {
    for (std::size_t i = 0; i < tasks.size(); ++i) pop_newest();
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (times_taken[i] != (i < pushed ? 1 : 0))
        return "task " + std::to_string(i) + " was taken " + std::to_string(times_taken[i]) + " times";
    return deque.size() == 0 ? "" : "not empty at the end";
  }

  std::array<task, 12> tasks;
  std::array<int, 12> times_taken{};
  std::size_t pushed = 0;
  task_deque deque;
};

// What a delayed thief has seen comes back, with other tasks: it must not be taken for the same.
bodies owner_that_takes_back(queue_model& model) {
  return {[&] {
            model.push();
            model.claim(1);
            model.push();
            model.push();
            model.claim(1);
            model.claim(2);
            model.push();
          },
          [&] {
            model.steal(4);
            model.steal(4);
          }};
}

// The owner takes what lies in the middle: of its own part and of what is offered, where thieves are.
bodies owner_that_takes_any(queue_model& model) {
  for (int i = 0; i < 5; ++i) model.push();
  model.deque.request_offer();
  model.push();  // offers more than one
  return {[&] {
            model.claim(5);
            model.claim(2);
            model.claim(4);
            model.push();
            model.claim(3);
          },
          [&] {
            model.steal(2);
            model.steal(4);
          }};
}

// Two thieves, one of which may sleep over everything that the owner does with what it has read.
bodies owner_that_takes_and_offers_again(queue_model& model) {
  for (int i = 0; i < 3; ++i) model.push();
  model.deque.request_offer();
  model.push();
  return {[&] {
            model.claim(3);
            model.pop_newest();
            model.push();
            model.pop_oldest();
            model.push();
          },
          [&] { model.steal(4); }};
}

bodies owner_and_raider_of_holes(queue_model& model) {
  for (int i = 0; i < 3; ++i) model.push();
  return {[&] {
            model.claim(2);
            model.claim(1);
            model.push();
          },
          [&] {
            if (model.deque.raid()) model.steal(4);
          }};
}

bodies owner_and_raider(queue_model& model) {
  model.push();
  model.push();
  return {[&] {
            model.pop_newest();
            model.pop_newest();
            model.push();
          },
          [&] {
            if (model.deque.raid()) model.steal(4);
          }};
}

template <class make_bodies>
std::string all_schedules(machine& simulator, int budget, task_deque::offering offers, make_bodies&& make_model) {
  std::unique_ptr<queue_model> model;
  return simulator.try_all(
      budget,
      [&] {
        model = std::make_unique<queue_model>(offers);
        return make_model(*model);
      },
      [&] { return model->verdict(); });
}

TEST_F(interleaved, a_queue_gives_each_task_once_whatever_the_schedule) {
  for (const auto when : {task_deque::offering::on_demand, task_deque::offering::periodic, task_deque::offering::disabled}) {
    machine simulator;
    const int budget = when == task_deque::offering::on_demand ? 3 : 2;
    EXPECT_EQ(all_schedules(simulator, budget, when, owner_that_takes_back), "");
    EXPECT_GT(simulator.runs(), 500u);
    EXPECT_EQ(all_schedules(simulator, budget, when, owner_and_raider), "");
    EXPECT_GT(simulator.runs(), 500u);
  }
}

TEST_F(interleaved, a_queue_gives_each_task_once_that_its_owner_takes_from_the_middle) {
  for (const auto when : {task_deque::offering::on_demand, task_deque::offering::disabled}) {
    machine simulator;
    EXPECT_EQ(all_schedules(simulator, 2, when, owner_that_takes_any), "");
    EXPECT_GT(simulator.runs(), 500u);
    EXPECT_EQ(all_schedules(simulator, 2, when, owner_that_takes_and_offers_again), "");
    EXPECT_EQ(all_schedules(simulator, 2, when, owner_and_raider_of_holes), "");
  }
}

TEST_F(interleaved, a_raid_without_the_barrier_is_found_out) {
  machine broken({.membarrier_does_nothing = true});
  EXPECT_NE(all_schedules(broken, 3, task_deque::offering::disabled, owner_and_raider), "");
}

TEST_F(interleaved, a_queue_gives_each_task_once_in_random_schedules) {
  machine simulator;
  std::unique_ptr<queue_model> model;
  const auto owner = [&](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 14; ++i) switch (random() % 6) {
        case 0:
        case 1:
        case 2:
          if (model->pushed < model->tasks.size()) model->push();
          break;
        case 3:
          model->claim(1 + random() % 6);
          break;
        case 4:
          model->pop_newest();
          break;
        default:
          model->pop_oldest();
      }
  };
  const auto thief = [&](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 6; ++i) switch (random() % 6) {
        case 0:
          model->deque.request_offer();
          break;
        case 1:
          model->deque.raid();
          break;
        default:
          model->steal(1 + random() % 4);
      }
  };
  EXPECT_EQ(simulator.random(
                1, 30'000,
                [&](std::uint64_t seed) -> bodies {
                  model = std::make_unique<queue_model>(static_cast<task_deque::offering>(seed % 3));
                  return {[=] { owner(seed); }, [=] { thief(seed + 1); }, [=] { thief(seed + 2); }};
                },
                [&] { return model->verdict(); }),
            "");
}

// Workers that look, sleep and are woken as worker_loop's do, on any policy.
enum class sleeper { right, looks_before_it_tells, without_barrier, keeps_what_others_could_run };

template <class policy>
struct sleep_model {
  sleep_model(std::uint32_t workers, sleeper sleeping) : pool(workers, {}, policy::offers), rules(pool), way(sleeping) {}

  void push(std::uint32_t worker) {
    task& created = tasks.at(pushed++);
    if constexpr (policy::names_taker)
      wake(rules.push(pool, worker, created));
    else if (policy::keeps_own ? pool[worker].normal.push(created) : rules.push(pool, worker, created))
      wake(anyone);
  }
  void place(priority level = priority::normal, std::int32_t hint = -1) {
    task& created = tasks.at(pushed++);
    created.level = level;
    if constexpr (policy::names_taker) {
      wake(rules.place(pool, created, hint));
    } else {
      rules.place(pool, created, hint);
      wake(anyone);
    }
  }
  event_count& events_of(std::uint32_t worker) { return policy::names_taker ? own_events.at(worker) : events; }
  void wake(std::uint32_t target) {
    if (!policy::names_taker) return events.wake_one();
    if (target != anyone) return own_events.at(target).wake_one();
    for (event_count& own_event : own_events)
      if (own_event.sleepers() != 0) return own_event.wake_one();
  }

  // Until all `expected` tasks have been run by somebody.
  void work(std::uint32_t worker) {
    while (left.load(std::memory_order_seq_cst) != 0) {
      bool is_offered = false;
      search patient{1000};
      task* const item = rules.next(pool, worker, patient, is_offered);
      if (is_offered) wake(anyone);
      if (item == nullptr) {
        sleep(worker);
        continue;
      }
      if (policy::names_taker && way != sleeper::keeps_what_others_could_run && pool.low.size() != 0) wake(anyone);
      ran(*item);
    }
  }
  void ran(const task& item) {
    times_run.at(static_cast<std::size_t>(&item - tasks.data())) += 1;
    // It takes as long as the one of low priority, if there is one.
    if (waits_for_low && item.level != priority::low) low_is_run.wait(wait_reason::run);
    if (item.level == priority::low) low_is_run.complete();
    if (left.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
    events.wake_all();
    for (event_count& own_event : own_events) own_event.wake_all();
  }
  void sleep(std::uint32_t worker) {
    if (way == sleeper::looks_before_it_tells && rules.may_find(pool, worker)) return;
    event_count& sleepers = events_of(worker);
    const std::uint32_t key = sleepers.prepare();
    if (way != sleeper::without_barrier) heavy_fence();
    if ((way != sleeper::looks_before_it_tells && rules.may_find(pool, worker)) || left.load(std::memory_order_seq_cst) == 0)
      return sleepers.cancel();
    sleepers.wait(key);
  }
  std::string verdict() {
    for (std::size_t i = 0; i < pushed; ++i)
      if (times_run[i] != 1) return "task " + std::to_string(i) + " was run " + std::to_string(times_run[i]) + " times";
    std::uint32_t sleepers = events.sleepers();
    for (const event_count& element : own_events) sleepers += element.sleepers();
    return sleepers == 0 ? "" : "sleepers are left";
  }

  queues pool;
  policy rules;
  sleeper way;
  event_count events;
  std::array<event_count, 3> own_events;  // used instead where the policy names who is to be woken
  bool waits_for_low = false;
  completion low_is_run;
  std::array<task, 8> tasks;
  std::array<int, 8> times_run{};
  std::size_t pushed = 0;
  std::atomic<std::uint32_t> left{0};
};

// A worker that makes tasks, and then is busy for as long as they are not run: others must find them.
template <class policy>
bodies busy_owner(sleep_model<policy>& model) {
  model.left.store(2);
  return {[&] {
            model.push(0);
            model.push(0);
            // Under static-priority some are its own.
            if (policy::names_taker) model.work(0);
          },
          [&] { model.work(1); }};
}

// The same, when it has just run its newest in place and so taken back what was offered.
template <class policy>
bodies busy_owner_that_took(sleep_model<policy>& model) {
  model.left.store(3);
  return {[&] {
            for (int i = 0; i < 3; ++i)
              if (model.pool[0].normal.push(model.tasks.at(model.pushed++))) model.wake(anyone);
            if (model.pool[0].normal.claim(model.tasks[2])) model.ran(model.tasks[2]);
          },
          [&] { model.work(1); }};
}

// A thread outside, and workers.
template <class policy, std::uint32_t tasks = 2>
bodies external_producer(sleep_model<policy>& model) {
  model.left.store(tasks);
  bodies result{[&] {
    for (std::uint32_t i = 0; i < tasks; ++i) model.place();
  }};
  for (std::uint32_t i = 0; i < model.pool.size(); ++i) result.push_back([&, i] { model.work(i); });
  return result;
}

// One task that only a certain worker may run, and beside it one that any may.
bodies one_of_low_priority(sleep_model<static_priority>& model) {
  model.left.store(2);
  model.waits_for_low = true;
  return {[&] {
            model.place(priority::normal, 0);
            model.place(priority::low);
          },
          [&] { model.work(0); }, [&] { model.work(1); }};
}

template <class policy, class make_bodies>
std::string asleep(machine& simulator, int budget, std::uint32_t workers, sleeper sleeping, make_bodies&& make_model) {
  std::unique_ptr<sleep_model<policy>> model;
  return simulator.try_all(
      budget,
      [&] {
        model = std::make_unique<sleep_model<policy>>(workers, sleeping);
        return make_model(*model);
      },
      [&] { return model->verdict(); });
}

template <class policy>
class interleaved_policies : public interleaved {};
using all_six = ::testing::Types<local, local_priority, abp_priority, hierarchy, static_priority, periodic_priority>;
struct names {
  template <class policy>
  static std::string GetName(int) {
    return policy::name;
  }
};
TYPED_TEST_SUITE(interleaved_policies, all_six, names);

TYPED_TEST(interleaved_policies, nobody_sleeps_while_there_is_work) {
  machine simulator;
  EXPECT_EQ((asleep<TypeParam>(simulator, 2, 2, sleeper::right, busy_owner<TypeParam>)), "");
  if (!TypeParam::names_taker) {
    EXPECT_EQ((asleep<TypeParam>(simulator, 2, 2, sleeper::right, busy_owner_that_took<TypeParam>)), "");
  }
  EXPECT_GT(simulator.runs(), 100u);
  EXPECT_EQ((asleep<TypeParam>(simulator, 2, 1, sleeper::right, external_producer<TypeParam>)), "");
  EXPECT_GT(simulator.runs(), 100u);
  std::unique_ptr<sleep_model<TypeParam>> model;
  EXPECT_EQ(simulator.random(
                1, 2'000,
                [&](std::uint64_t seed) {
                  model = std::make_unique<sleep_model<TypeParam>>(2, sleeper::right);
                  return seed % 2 == 0 ? busy_owner(*model) : external_producer(*model);
                },
                [&] { return model->verdict(); }),
            "");
}

TYPED_TEST(interleaved_policies, who_looks_before_it_tells_is_found_out) {
  machine simulator;
  EXPECT_NE((asleep<TypeParam>(simulator, 2, 1, sleeper::looks_before_it_tells, external_producer<TypeParam>)), "");
}

TEST_F(interleaved, who_may_run_anything_is_woken_beside_who_may_run_one) {
  machine simulator;
  EXPECT_EQ((asleep<static_priority>(simulator, 1, 2, sleeper::right, one_of_low_priority)), "");
  EXPECT_GT(simulator.runs(), 100u);
  EXPECT_NE((asleep<static_priority>(simulator, 1, 2, sleeper::keeps_what_others_could_run, one_of_low_priority)), "");
}

TEST_F(interleaved, who_sleeps_without_the_barrier_is_found_out) {
  machine simulator;
  EXPECT_NE((asleep<local_priority>(simulator, 3, 2, sleeper::without_barrier, busy_owner<local_priority>)), "");
}

// Where there is no membarrier, what comes from outside is seen because it is stored with a fence.
TEST_F(interleaved, what_is_put_without_a_fence_is_found_out) {
  machine simulator({.membarrier_does_nothing = true});
  EXPECT_EQ((asleep<local_priority>(simulator, 2, 1, sleeper::right, external_producer<local_priority, 1>)), "");
  machine broken({.membarrier_does_nothing = true, .seq_cst_stores_are_late = true});
  EXPECT_NE((asleep<local_priority>(broken, 2, 1, sleeper::right, external_producer<local_priority, 1>)), "");
}

// One who completes, two who wait; the first waiter to be told ends the completion's life.
struct completion_model {
  std::unique_ptr<completion> finished = std::make_unique<completion>();
  int value = 0;
  int observed = 0;
};

std::string completed(machine& simulator, int budget, bool by_workers, int waiters) {
  are_workers = by_workers;
  std::unique_ptr<completion_model> model;
  const std::string result = simulator.try_all(
      budget,
      [&]() -> bodies {
        model = std::make_unique<completion_model>();
        bodies threads{[&] {
          model->value = 1;
          model->finished->complete();
        }};
        for (int i = 0; i < waiters; ++i)
          threads.push_back([&, waiters] {
            model->finished->wait(wait_reason::run);
            if (model->value != 1) machine::current()->fail("went on before it was completed");
            if (++model->observed == waiters) model->finished.reset();
          });
        return threads;
      },
      [&] { return model->observed == waiters ? std::string() : std::string("not all went on"); });
  are_workers = false;
  return result;
}

TEST_F(interleaved, who_waits_is_told_once_and_may_destroy_what_it_waited_for) {
  for (const bool by_workers : {false, true})
    for (const int waiters : {1, 2}) {
      machine simulator;
      EXPECT_EQ(completed(simulator, 4, by_workers, waiters), "");
      EXPECT_GT(simulator.runs(), 20u);
    }
}

}  // namespace
}  // namespace trimtab::tasks

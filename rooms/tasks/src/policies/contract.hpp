// What a scheduling policy is: where tasks go, and where a worker looks for one. One file a policy, one object a
// runtime; the workers' loop is compiled once for each, so that the choice costs nothing per task.
//
// What every policy keeps: a task that was pushed or placed comes out of `next` exactly once, at some worker below the cap;
// `may_find` is false only if `next` of that worker would find nothing, whatever was pushed before it was called.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "trimtab/tasks/core/queues.hpp"

namespace trimtab::tasks {

// How often a worker has looked in vain since it last ran something, and what it may do about it.
struct search {
  std::uint32_t looks = 0;
  // After some looks owners are asked to offer what they have; when they do not answer they are raided.
  bool may_request() const noexcept { return looks > 32; }
  bool may_raid() const noexcept { return looks > 512; }
};

// In the place of a worker's number.
inline constexpr std::uint32_t anyone = ~std::uint32_t{0};

template <class policy>
concept scheduling_policy = requires(policy p, const policy& q, queues& pool, std::uint32_t worker, task& item,
                                     std::int32_t hint, search& effort, bool& is_offered) {
  { policy::name } -> std::convertible_to<const char*>;
  // Normal tasks that a worker creates go to its own queue without a call of the policy.
  { policy::keeps_own } -> std::convertible_to<bool>;
  // A task may be run by one worker only: push and place return its number, or `anyone`. It alone is woken.
  { policy::names_taker } -> std::convertible_to<bool>;
  { policy::offers } -> std::convertible_to<task_deque::offering>;
  requires std::constructible_from<policy, queues&>;
  // A task that `worker` has made or made ready; by that worker. True: somebody may be woken for it.
  { p.push(pool, worker, item) } noexcept -> std::same_as<std::conditional_t<policy::names_taker, std::uint32_t, bool>>;
  // From a thread that is no worker, or for another worker: hint, -1 if it does not matter.
  { p.place(pool, item, hint) } noexcept -> std::same_as<std::conditional_t<policy::names_taker, std::uint32_t, void>>;
  // For `worker`, by that worker; nullptr when nothing was found. is_offered: others may be woken for what is left.
  { p.next(pool, worker, effort, is_offered) } noexcept -> std::same_as<task*>;
  // Before `worker` sleeps.
  { q.may_find(pool, worker) } noexcept -> std::same_as<bool>;
};

namespace detail {

// A look at one queue, counted.
template <class look>
task* looked(queue_counts& counts, look&& visit) noexcept {
  counts.accesses.add();
  task* const item = visit();
  if (item == nullptr) counts.misses.add();
  return item;
}

enum class order : bool { oldest_first, newest_first };

template <order which>
task* pop(task_deque& queue, bool& is_offered) noexcept {
  return which == order::oldest_first ? queue.pop_oldest(is_offered) : queue.pop_newest(is_offered);
}

// Every so many looks, what comes from outside is looked at first, so that work which makes work does not keep it out.
constexpr std::uint32_t looks_per_incoming = 32;

// False: how worthwhile the last steals were is to be judged first (worker_loop).
inline bool may_steal(const worker_queues& own_queues) noexcept {
  return own_queues.counts.steals.get() < own_queues.most_steals;
}

// Takes up to half of what `victim` offers. The oldest is returned; keep(task) is called for the others in their order.
template <class keeper>
task* steal_batch(task_deque& victim, queue_counts& counts, const search& effort, bool& is_offered, keeper&& keep) noexcept {
  constexpr std::size_t batch = 32;
  std::array<task*, batch> batch_tasks;
  std::size_t count = victim.steal(batch_tasks.data(), batch);
  if (count == 0 && effort.may_request() && victim.size() != 0) {
    victim.request_offer();
    if (effort.may_raid() && victim.raid()) count = victim.steal(batch_tasks.data(), batch);
  }
  if (count == 0) return nullptr;
  // They lie in the cache of who made them; on their way all at once.
  for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(batch_tasks[i], 1);
  counts.stolen.add(count);
  counts.steals.add();
  // What is left is the next one's, even if it is not offered yet. The size is where the owner writes: asked for last.
  is_offered |= victim.is_offering() || victim.size() != 0;
  for (std::size_t i = 1; i < count; ++i) keep(*batch_tasks[i]);
  return batch_tasks[0];
}

inline task* steal(task_deque& victim, task_deque& own_deque, queue_counts& counts, const search& effort,
                   bool& is_offered) noexcept {
  return steal_batch(victim, counts, effort, is_offered, [&](task& item) { is_offered |= own_deque.push(item); });
}

inline task* steal(inbox& victim, queue_counts& counts, bool& is_offered) noexcept {
  task* const item = victim.dequeue();
  if (item == nullptr) return nullptr;
  counts.stolen.add();
  counts.steals.add();
  is_offered |= victim.size() != 0;
  return item;
}

// Calls look(victim) for each other worker, near ones first, from a random one on, until one gives a task.
template <class look>
task* search_victims(queues& pool, worker_queues& own_queues, look&& visit) noexcept {
  if (!may_steal(own_queues)) return nullptr;
  own_queues.random = base::mix(own_queues.random);
  const auto part = [&](std::uint32_t begin, std::uint32_t count) -> task* {
    if (count == 0) return nullptr;
    const auto first = static_cast<std::uint32_t>(own_queues.random % count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t index = first + i < count ? first + i : first + i - count;
      if (task* const item = visit(pool[own_queues.victims[begin + index]])) return item;
    }
    return nullptr;
  };
  if (task* const item = part(0, own_queues.near_victims)) return item;
  return part(own_queues.near_victims, static_cast<std::uint32_t>(own_queues.victims.size()) - own_queues.near_victims);
}

}  // namespace detail
}  // namespace trimtab::tasks

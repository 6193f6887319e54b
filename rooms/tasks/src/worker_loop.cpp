#include "worker_loop.hpp"

#include <algorithm>

#include "trimtab/tasks/core/asymmetric_fence.hpp"
#include "pause.hpp"
#include "policies/abp_priority.hpp"
#include "policies/hierarchy.hpp"
#include "policies/local.hpp"
#include "policies/local_priority.hpp"
#include "policies/periodic_priority.hpp"
#include "policies/static_priority.hpp"

namespace trimtab::tasks {

namespace {

// One activation in so many is timed: 36 ns of clock reads then cost less than one a task.
constexpr std::uint64_t activations_per_timed = 64;

// A steal costs its victim some hundred nanoseconds: it has to fetch its own lines back, and waits for what it would have
// run in passing. A thief that finds only what is shorter leaves others alone for a while, which doubles each time.
constexpr std::uint32_t steals_per_judgement = 8;
constexpr std::uint32_t bad_judgements = 3;  // in a row, before it does so
constexpr std::uint64_t first_pause_ns = 1000;
constexpr std::uint32_t most_doublings = 8;
constexpr std::uint64_t shortest_nap_ns = 30'000;  // what is shorter is waited for awake

}  // namespace

template <scheduling_policy policy>
void worker_loop::run(stack& self) noexcept {
  runtime& owner = *self.owner;
  policy& how_to = *static_cast<policy*>(owner.m_policy_object.get());
  for (;;) {
    if (self.call != nullptr) {
      run_call(self);
      continue;
    }
    worker& here = *worker::current();
    task* found = nullptr;
    if (may_work(here)) [[likely]] {
      search first;
      bool is_offered = false;
      found = how_to.next(owner.m_queues, here.m_number, first, is_offered);
      if (is_offered) [[unlikely]]
        here.wake();
    }
    if (found == nullptr) found = look(here, how_to);
    if (found != nullptr) {
      execute(here, *found);
      continue;
    }
    // Not recycled: this stack is never used again.
    switching::to(nullptr, nullptr, nullptr);
  }
}

void worker_loop::execute(worker& here, task& what) noexcept {
  worker_counters& counters = here.m_counters;
  const task::kind kind = what.what;
  (kind == task::kind::resumption ? counters.resumed : counters.started).add();
  const std::uint64_t number = counters.started.get() + counters.resumed.get();
  if (number % activations_per_timed == 0) [[unlikely]] {
    here.m_phase_begin = base::now();
    // What takes longer is no management: the worker was preempted.
    const base::ticks gap = here.m_last_end != 0 ? here.m_phase_begin - here.m_last_end : 0;
    if (gap < here.m_owner->m_longest_gap) counters.gap_ticks.add(gap);
  }
  if (kind == task::kind::resumption)
    what.run(what, task::place::loop);
  else
    here.run(what, task::place::loop);
  // Maybe another worker: the task may have waited meanwhile. Resumptions end in the loop of the stack that they are of.
  worker& now_here = *worker::current();
  if (kind == task::kind::made) now_here.m_counters.finished.add_released();
  now_here.m_last_end = 0;
  if (now_here.m_phase_begin != 0) [[unlikely]] {
    const base::ticks end = base::now();
    now_here.m_counters.timed_tasks.add();
    now_here.m_counters.timed_ticks.add(end - now_here.m_phase_begin);
    now_here.m_phase_begin = 0;
  } else if ((now_here.m_counters.started.get() + now_here.m_counters.resumed.get()) % activations_per_timed ==
             activations_per_timed - 1) {
    now_here.m_last_end = base::now();
  }
}

// Until something is found, or the runtime has ended (nullptr).
template <scheduling_policy policy>
task* worker_loop::look(worker& here, policy& how_to) noexcept {
  runtime& owner = *here.m_owner;
  here.m_last_end = 0;
  const base::ticks busy_since = here.m_since.load(std::memory_order_relaxed);
  here.enter(worker_state::looking);
  judge_steals(here, here.m_since.load(std::memory_order_relaxed) - busy_since);
  if (here.m_poor_judgements >= bad_judgements) leave_others_alone(here);
  for (;;) {
    search how;
    for (; how.looks < owner.m_looks && may_work(here); ++how.looks) {
      bool is_offered = false;
      task* const found = how_to.next(owner.m_queues, here.m_number, how, is_offered);
      if (is_offered) here.wake();
      if (found != nullptr) {
        // Who was woken for that may have found something else.
        if constexpr (policy::names_taker)
          if (owner.m_queues.low.size() != 0) owner.wake(anyone);
        here.enter(worker_state::busy);
        return found;
      }
      pause();
    }
    if (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.is_over()) {
      owner.wake_all();
      owner.m_capped_events.wake_all();
      return nullptr;
    }
    may_work(here) ? sleep(here, how_to) : rest(here);
  }
}

// busy: how long it took to run what was found since the last time.
void worker_loop::judge_steals(worker& here, base::ticks busy) noexcept {
  const std::uint64_t steals = here.m_queues->counts.steals.get(), resumed = here.m_counters.resumed.get();
  const std::uint64_t made = steals - here.m_judged_steals;
  const std::uint64_t stolen = here.m_queues->counts.stolen.get() - here.m_judged_stolen;
  // A task that goes on here would have been busy anywhere: nothing is known then of what was stolen.
  if (made != 0 && resumed == here.m_judged_resumed) {
    if (busy >= made * here.m_owner->m_least_stolen) {
      here.m_poor_judgements = 0;
    } else {
      // Who is busy with something long loses nothing, however short what we take: others must run such tasks meanwhile.
      const std::uint64_t others = run_by_others(here);
      const bool is_lost = here.m_poor_judgements > 0 && others - here.m_run_by_others >= stolen;
      here.m_poor_judgements = is_lost ? here.m_poor_judgements + 1 : 1;
      here.m_run_by_others = others;
    }
  }
  here.m_judged_steals = steals;
  here.m_judged_stolen += stolen;
  here.m_judged_resumed = resumed;
  here.m_queues->most_steals = steals + steals_per_judgement;
}

std::uint64_t worker_loop::run_by_others(const worker& here) noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : here.m_owner->m_workers)
    if (each.get() != &here) sum += each->m_counters.in_place.get() + each->m_counters.started.get();
  return sum;
}

// It is no sleeper: who makes tasks does not wake it for them. What comes from outside does.
void worker_loop::leave_others_alone(worker& here) noexcept {
  runtime& owner = *here.m_owner;
  const std::uint64_t ns = first_pause_ns << std::min(here.m_poor_judgements - bad_judgements, most_doublings);
  const auto is_wanted = [&] {
    return owner.m_queues.has_incoming(*here.m_queues) || !may_work(here) ||
           owner.m_is_ending.load(std::memory_order_seq_cst);
  };
  if (ns < shortest_nap_ns) {
    const base::ticks begin = here.m_since.load(std::memory_order_relaxed);
    const auto pause_ticks = ns * owner.m_least_stolen / 500;
    while (base::now() - begin < pause_ticks && !is_wanted()) pause();
    return;
  }
  const std::uint32_t key = owner.m_nap_events.prepare();
  if (is_wanted()) return owner.m_nap_events.cancel();
  here.enter(worker_state::parked);
  owner.m_nap_events.wait(key, ns);
  here.enter(worker_state::looking);
}

template <scheduling_policy policy>
void worker_loop::sleep(worker& here, const policy& how_to) noexcept {
  runtime& owner = *here.m_owner;
  event_count& events = policy::names_taker ? here.m_events : owner.m_events;
  const std::uint32_t key = events.prepare();
  // Owners push without a fence: either they see that nothing is offered any more, or we see what they have pushed.
  heavy_fence();
  if (how_to.may_find(owner.m_queues, here.m_number) || !may_work(here) ||
      (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.is_over()))
    return events.cancel();
  here.m_counters.parked.add();
  if (recording::is_on()) here.m_tally.flush();
  here.enter(worker_state::parked);
  if (!events.wait(key, owner.m_options.deadlock_ms * std::uint64_t{1'000'000})) owner.tell_if_stuck();
  here.enter(worker_state::looking);
}

// Above the cap. What its queues hold, others find.
void worker_loop::rest(worker& here) noexcept {
  runtime& owner = *here.m_owner;
  const std::uint32_t key = owner.m_capped_events.prepare();
  if (may_work(here) || (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.is_over()))
    return owner.m_capped_events.cancel();
  // Somebody may have been woken in vain: us.
  owner.wake_all();
  here.m_counters.parked.add();
  if (recording::is_on()) here.m_tally.flush();
  here.enter(worker_state::capped);
  owner.m_capped_events.wait(key);
  here.enter(worker_state::looking);
}

template <class which>
const runtime::table& runtime::table_of() noexcept {
  static constexpr table made{which::keeps_own,
                              which::names_taker,
                              which::offers,
                              [](queues& all) -> std::shared_ptr<void> { return std::make_shared<which>(all); },
                              [](runtime& of, std::uint32_t worker, task& what) noexcept {
                                auto& how_to = *static_cast<which*>(of.m_policy_object.get());
                                if constexpr (which::names_taker)
                                  of.wake(how_to.push(of.m_queues, worker, what));
                                else if (how_to.push(of.m_queues, worker, what))
                                  of.m_events.wake_one();
                              },
                              [](runtime& of, task& what, std::int32_t hint) noexcept {
                                auto& how_to = *static_cast<which*>(of.m_policy_object.get());
                                if constexpr (which::names_taker) {
                                  of.wake(how_to.put(of.m_queues, what, hint));
                                } else {
                                  how_to.put(of.m_queues, what, hint);
                                  of.m_events.wake_one();
                                }
                              },
                              worker_loop::run<which>};
  return made;
}

const runtime::table& runtime::table_of(tasks::policy which) noexcept {
  switch (which) {
    case policy::local:
      return table_of<tasks::local>();
    case policy::local_priority:
      return table_of<tasks::local_priority>();
    case policy::abp_priority:
      return table_of<tasks::abp_priority>();
    case policy::hierarchy:
      return table_of<tasks::hierarchy>();
    case policy::static_priority:
      return table_of<tasks::static_priority>();
    case policy::periodic_priority:
      break;
  }
  return table_of<tasks::periodic_priority>();
}

}  // namespace trimtab::tasks

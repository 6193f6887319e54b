#include "worker_loop.hpp"

#include <algorithm>

#include "pause.hpp"
#include "policies/abp_priority.hpp"
#include "policies/hierarchy.hpp"
#include "policies/local.hpp"
#include "policies/local_priority.hpp"
#include "policies/periodic_priority.hpp"
#include "policies/static_priority.hpp"
#include "trimtab/tasks/core/asymmetric_fence.hpp"

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
  policy& scheduler = *static_cast<policy*>(owner.m_policy_object.get());
  for (;;) {
    if (self.call != nullptr) {
      run_call(self);
      continue;
    }
    worker& this_worker = *worker::current();
    task* item = nullptr;
    if (may_work(this_worker)) [[likely]] {
      search first;
      bool is_offered = false;
      item = scheduler.next(owner.m_queues, this_worker.m_number, first, is_offered);
      if (is_offered) [[unlikely]]
        this_worker.wake();
    }
    if (item == nullptr) item = look(this_worker, scheduler);
    if (item != nullptr) {
      execute(this_worker, *item);
      continue;
    }
    // Not recycled: this stack is never used again.
    switching::switch_to(nullptr, nullptr, nullptr);
  }
}

void worker_loop::execute(worker& this_worker, task& item) noexcept {
  worker_counters& counters = this_worker.m_counters;
  const task::kind kind = item.role;
  (kind == task::kind::resumption ? counters.resumed : counters.started).add();
  const std::uint64_t number = counters.started.get() + counters.resumed.get();
  if (number % activations_per_timed == 0) [[unlikely]] {
    this_worker.m_phase_begin = base::now();
    // What takes longer is no management: the worker was preempted.
    const base::ticks gap = this_worker.m_last_end != 0 ? this_worker.m_phase_begin - this_worker.m_last_end : 0;
    if (gap < this_worker.m_owner->m_longest_gap) counters.gap_ticks.add(gap);
  }
  if (kind == task::kind::resumption) {
    item.run(item, task::place::loop);
  } else {
    this_worker.m_stack->level = item.level;
    this_worker.run(item, task::place::loop);
  }
  // Maybe another worker: the task may have waited meanwhile. Resumptions end in the loop of the stack that they are of.
  worker& end_worker = *worker::current();
  if (kind == task::kind::plain) end_worker.m_counters.finished.add_released();
  end_worker.m_last_end = 0;
  if (end_worker.m_phase_begin != 0) [[unlikely]] {
    const base::ticks end = base::now();
    end_worker.m_counters.timed_tasks.add();
    end_worker.m_counters.timed_ticks.add(end - end_worker.m_phase_begin);
    end_worker.m_phase_begin = 0;
  } else if ((end_worker.m_counters.started.get() + end_worker.m_counters.resumed.get()) % activations_per_timed ==
             activations_per_timed - 1) {
    end_worker.m_last_end = base::now();
  }
}

// Until something is found, or the runtime has ended (nullptr).
template <scheduling_policy policy>
task* worker_loop::look(worker& this_worker, policy& scheduler) noexcept {
  runtime& owner = *this_worker.m_owner;
  this_worker.m_last_end = 0;
  const base::ticks busy_since = this_worker.m_state_begin.load(std::memory_order_relaxed);
  this_worker.enter(worker_state::looking);
  judge_steals(this_worker, this_worker.m_state_begin.load(std::memory_order_relaxed) - busy_since);
  if (this_worker.m_poor_judgements >= bad_judgements) leave_others_alone(this_worker);
  for (;;) {
    search effort;
    for (; effort.looks < owner.m_looks && may_work(this_worker); ++effort.looks) {
      bool is_offered = false;
      task* const item = scheduler.next(owner.m_queues, this_worker.m_number, effort, is_offered);
      if (is_offered) this_worker.wake();
      if (item != nullptr) {
        // Who was woken for that may have found something else.
        if constexpr (policy::names_taker)
          if (owner.m_queues.low.size() != 0) owner.wake(anyone);
        this_worker.enter(worker_state::busy);
        return item;
      }
      // Who has just received something looks for as long again.
      if (advance_background(owner)) effort.looks = 0;
      pause();
    }
    if (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.has_ended()) {
      owner.wake_all();
      owner.m_capped_events.wake_all();
      return nullptr;
    }
    if (is_background_found(owner)) continue;
    may_work(this_worker) ? sleep(this_worker, scheduler) : rest(this_worker);
  }
}

bool worker_loop::advance_background(runtime& owner) noexcept {
  // Acquire pairs with set_background_work.
  background_work* const work = owner.m_background_work.load(std::memory_order_acquire);
  return work != nullptr && work->advance();
}

bool worker_loop::is_background_found(runtime& owner) noexcept {
  background_work* const work = owner.m_background_work.load(std::memory_order_acquire);
  return work != nullptr && work->before_sleep();
}

// busy: how long it took to run what was found since the last time.
void worker_loop::judge_steals(worker& this_worker, base::ticks busy) noexcept {
  const std::uint64_t steals = this_worker.m_queues->counts.steals.get(), resumed = this_worker.m_counters.resumed.get();
  const std::uint64_t created_count = steals - this_worker.m_judged_steals;
  const std::uint64_t stolen = this_worker.m_queues->counts.stolen.get() - this_worker.m_judged_stolen;
  // A task that goes on here would have been busy anywhere: nothing is known then of what was stolen.
  if (created_count != 0 && resumed == this_worker.m_judged_resumed) {
    if (busy >= created_count * this_worker.m_owner->m_least_stolen) {
      this_worker.m_poor_judgements = 0;
    } else {
      // Who is busy with something long loses nothing, however short what we take: others must run such tasks meanwhile.
      const std::uint64_t foreign_runs = run_by_others(this_worker);
      const bool is_lost = this_worker.m_poor_judgements > 0 && foreign_runs - this_worker.m_run_by_others >= stolen;
      this_worker.m_poor_judgements = is_lost ? this_worker.m_poor_judgements + 1 : 1;
      this_worker.m_run_by_others = foreign_runs;
    }
  }
  this_worker.m_judged_steals = steals;
  this_worker.m_judged_stolen += stolen;
  this_worker.m_judged_resumed = resumed;
  this_worker.m_queues->most_steals = steals + steals_per_judgement;
}

std::uint64_t worker_loop::run_by_others(const worker& this_worker) noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker_entry : this_worker.m_owner->m_workers)
    if (worker_entry.get() != &this_worker)
      sum += worker_entry->m_counters.in_place.get() + worker_entry->m_counters.started.get();
  return sum;
}

// It is no sleeper: who makes tasks does not wake it for them. What comes from outside does.
void worker_loop::leave_others_alone(worker& this_worker) noexcept {
  runtime& owner = *this_worker.m_owner;
  const std::uint64_t ns = first_pause_ns << std::min(this_worker.m_poor_judgements - bad_judgements, most_doublings);
  const auto is_wanted = [&] {
    return owner.m_queues.has_incoming(*this_worker.m_queues) || !may_work(this_worker) ||
           owner.m_is_ending.load(std::memory_order_seq_cst);
  };
  if (ns < shortest_nap_ns) {
    const base::ticks begin = this_worker.m_state_begin.load(std::memory_order_relaxed);
    const auto pause_ticks = ns * owner.m_least_stolen / 500;
    while (base::now() - begin < pause_ticks && !is_wanted()) pause();
    return;
  }
  const std::uint32_t key = owner.m_nap_events.prepare();
  if (is_wanted()) return owner.m_nap_events.cancel();
  this_worker.enter(worker_state::parked);
  owner.m_nap_events.wait(key, ns);
  this_worker.enter(worker_state::looking);
}

template <scheduling_policy policy>
void worker_loop::sleep(worker& this_worker, const policy& scheduler) noexcept {
  runtime& owner = *this_worker.m_owner;
  event_count& events = policy::names_taker ? this_worker.m_events : owner.m_events;
  const std::uint32_t key = events.prepare();
  // Owners push without a fence: either they see that nothing is offered any more, or we see what they have pushed.
  heavy_fence();
  if (scheduler.may_find(owner.m_queues, this_worker.m_number) || !may_work(this_worker) ||
      (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.has_ended()))
    return events.cancel();
  this_worker.m_counters.parked.add();
  if (recording::is_enabled()) this_worker.m_tally.flush();
  this_worker.enter(worker_state::parked);
  if (!events.wait(key, owner.m_options.deadlock_ms * std::uint64_t{1'000'000})) owner.tell_if_stuck();
  this_worker.enter(worker_state::looking);
}

// Above the cap. What its queues hold, others find.
void worker_loop::rest(worker& this_worker) noexcept {
  runtime& owner = *this_worker.m_owner;
  const std::uint32_t key = owner.m_capped_events.prepare();
  if (may_work(this_worker) || (owner.m_is_ending.load(std::memory_order_seq_cst) && owner.has_ended()))
    return owner.m_capped_events.cancel();
  // Somebody may have been woken in vain: us.
  owner.wake_all();
  this_worker.m_counters.parked.add();
  if (recording::is_enabled()) this_worker.m_tally.flush();
  this_worker.enter(worker_state::capped);
  owner.m_capped_events.wait(key);
  this_worker.enter(worker_state::looking);
}

template <class scheduling>
const runtime::table& runtime::table_of() noexcept {
  static constexpr table result{scheduling::keeps_own,
                                scheduling::names_taker,
                                scheduling::offers,
                                [](queues& pool) -> std::shared_ptr<void> { return std::make_shared<scheduling>(pool); },
                                [](runtime& owner, std::uint32_t worker, task& item) noexcept {
                                  auto& scheduler = *static_cast<scheduling*>(owner.m_policy_object.get());
                                  if constexpr (scheduling::names_taker)
                                    owner.wake(scheduler.push(owner.m_queues, worker, item));
                                  else if (scheduler.push(owner.m_queues, worker, item))
                                    owner.m_events.wake_one();
                                },
                                [](runtime& owner, task& item, std::int32_t hint) noexcept {
                                  auto& scheduler = *static_cast<scheduling*>(owner.m_policy_object.get());
                                  if constexpr (scheduling::names_taker) {
                                    owner.wake(scheduler.place(owner.m_queues, item, hint));
                                  } else {
                                    scheduler.place(owner.m_queues, item, hint);
                                    owner.m_events.wake_one();
                                  }
                                },
                                worker_loop::run<scheduling>};
  return result;
}

const runtime::table& runtime::table_of(tasks::policy scheduling) noexcept {
  switch (scheduling) {
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

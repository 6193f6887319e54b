#include "trimtab/tasks/core/worker.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "stack.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/wait_reason.hpp"
#include "worker_loop.hpp"

namespace trimtab::tasks {

constinit thread_local worker* this_threads_worker = nullptr;

[[gnu::noinline]] worker* worker::ask_current() noexcept {
  asm volatile("");
  return this_threads_worker;
}

void worker_loop::set_current(worker* this_worker) noexcept { this_threads_worker = this_worker; }

worker::worker(runtime& owner, worker_queues& own_queues, std::uint32_t number) noexcept
    : m_queues(&own_queues), m_keeps_own(owner.m_table->keeps_own), m_number(number), m_owner(&owner) {
  m_state_begin.store(base::now(), std::memory_order_relaxed);
}

void worker::wake() noexcept { m_owner->m_table->names_taker ? m_owner->wake(anyone) : m_owner->m_events.wake_one(); }

void worker::push_elsewhere(task& item) noexcept { m_owner->m_table->push(*m_owner, m_number, item); }

void worker::enter(worker_state next) noexcept {
  const base::ticks current_time = base::now();
  const base::ticks begin = m_state_begin.load(std::memory_order_relaxed);
  const worker_state last = m_state.load(std::memory_order_relaxed);
  single_writer_count* const sums[] = {&m_counters.busy_ticks, &m_counters.look_ticks, &m_counters.park_ticks,
                                       &m_counters.cap_ticks};
  // Odd while it changes: who reads in between would lose a whole stretch, or count it twice.
  m_changes.fetch_add(1, std::memory_order_acq_rel);
  sums[static_cast<std::size_t>(last)]->add(current_time - begin);
  m_state_begin.store(current_time, std::memory_order_relaxed);
  // Release: who finds all asleep reads what their tasks wait for (tell_if_stuck).
  m_state.store(next, std::memory_order_release);
  m_changes.fetch_add(1, std::memory_order_acq_rel);
  if (recording::is_enabled()) {
    constexpr recording::state states[] = {recording::state::runs, recording::state::looks, recording::state::idle,
                                           recording::state::capped};
    recording::worker_state(states[static_cast<std::size_t>(next)]);
  }
}

void worker::run_recorded(task& item, task::place position) noexcept {
  const std::uint32_t subject = item.subject;
  const std::uint64_t id = item.id;
  *m_running = {item.kind_of_work, id, subject};
  if (id != 0) {
    recording::task_begin(subject, id);
    item.run(item, position);
    recording::task_end(subject, id);
    // What the worker lets go on between two tasks is not given by the last one.
    current()->m_running->id = 0;
    return;
  }
  const bool is_timed = m_tally.ran(subject);
  const std::uint64_t foreign_runs = m_tally.total();
  // A task ends on the stack on which it began, but maybe at another worker.
  stack& running_on = *m_stack;
  const base::ticks waited = running_on.waited, begin = is_timed ? base::now() : 0;
  const std::uint64_t waits = running_on.waits, runs = ++running_on.runs;
  item.run(item, position);
  if (!is_timed) return;
  recording::tally& counts = current()->m_tally;
  // While it waited, others ran that are not inside it.
  const bool is_inclusive = running_on.waits == waits ? counts.total() != foreign_runs : running_on.runs != runs;
  counts.took(subject, base::now() - begin - (running_on.waited - waited), is_inclusive);
}

stack& worker::unused_stack() {
  if (m_unused == nullptr) {
    stack* const new_stack = m_owner->make_stack();
    if (new_stack == nullptr) [[unlikely]] {
      std::fprintf(stderr, "trimtab: no memory for another stack of %zu bytes: too many tasks wait at once\n",
                   m_owner->m_options.stack_bytes);
      std::abort();
    }
    m_counters.stacks.add();
    return *new_stack;
  }
  stack& reused = *m_unused;
  m_unused = reused.next;
  m_unused_count -= 1;
  return reused;
}

void worker::recycle(void*, stack* left) noexcept {
  worker& this_worker = *current();
  left->next = this_worker.m_unused;
  this_worker.m_unused = left;
  this_worker.m_unused_count += 1;
  this_worker.m_owner->keep_few_unused(this_worker);
}

void worker::suspend(wait_reason reason, const void* object, void (*published)(void*, stack&) noexcept,
                     void* argument) noexcept {
  worker& this_worker = *current();
  stack& left = *this_worker.m_stack;
  const base::ticks begin = base::now();
  left.wait_begin.store(begin, std::memory_order_relaxed);
  if (this_worker.m_phase_begin != 0) {
    this_worker.m_counters.timed_tasks.add();
    this_worker.m_counters.timed_ticks.add(begin - this_worker.m_phase_begin);
    this_worker.m_phase_begin = 0;
  }
  left.awaited_object.store(object, std::memory_order_relaxed);
  left.reason.store(reason, std::memory_order_relaxed);
  if (left.running.subject != 0) [[unlikely]] {
    this_worker.m_tally.suspended(left.running.subject);
    recording::task_suspended(left.running.subject, left.running.id, cause_of(reason));
  }
  // What runs it leaves a loop's own stack, which becomes unused.
  left.resumption.run = [](task& self, task::place) noexcept {
    switching::switch_to(&reinterpret_cast<stack&>(self), recycle, nullptr);
  };
  left.resumption.role = task::kind::resumption;
  left.resumption.level = priority::normal;
  this_worker.m_counters.suspended.add();
  struct publication {
    void (*published)(void*, stack&) noexcept;
    void* argument;
  } given{published, argument};
  stack& next = this_worker.unused_stack();
  // Where the event has happened meanwhile, the task lets itself go on.
  next.running.id = left.running.id;
  switching::switch_to(
      &next,
      [](void* request_pointer, stack* left_now) noexcept {
        const publication copy = *static_cast<publication*>(request_pointer);
        copy.published(copy.argument, *left_now);
        current()->m_running->id = 0;
      },
      &given);
  left.reason.store(wait_reason::not_waiting, std::memory_order_relaxed);
  if (!recording::is_enabled()) [[likely]]
    return;
  const base::ticks waited = base::now() - begin;
  left.waited += waited;
  left.waits += 1;
  if (left.running.subject != 0) recording::task_resumed(left.running.subject, left.running.id, cause_of(reason), waited);
}

// A task that can go on comes before new ones, as in HPX (pending before staged): it has a stack, which it gives back
// before another one needs one. One in so many waits behind all others, as one that yields does, so that tasks which wake
// each other in a circle do not keep new ones out.
void worker::go_on(stack& suspended) noexcept {
  constexpr std::uint32_t favoured_in_a_row = 32;
  if (suspended.level == priority::normal && ++m_continued % favoured_in_a_row == 0)
    return m_owner->place(suspended.resumption);
  if (suspended.level != priority::low) suspended.resumption.level = priority::high;
  push(suspended.resumption);
}

void worker::ready(stack& suspended) noexcept {
  worker* const this_worker = current();
  if (suspended.running.id != 0) [[unlikely]] {
    const bool is_in_task = this_worker != nullptr && this_worker->m_running != nullptr;
    recording::edge(is_in_task ? this_worker->m_running->id : 0, suspended.running.id,
                    cause_of(suspended.reason.load(std::memory_order_relaxed)));
  }
  if (this_worker != nullptr && this_worker->m_owner == suspended.owner) return this_worker->go_on(suspended);
  suspended.owner->place(suspended.resumption);
}

void worker::run_on_new_stack(void (*f)(void*) noexcept, void* argument) noexcept {
  worker& this_worker = *current();
  stack& new_stack = this_worker.unused_stack();
  new_stack.call = f;
  new_stack.argument = argument;
  new_stack.caller = this_worker.m_stack;
  new_stack.level = this_worker.m_stack->level;
  switching::switch_to(&new_stack, nullptr, nullptr);
}

void worker_loop::run_call(stack& self) noexcept {
  self.call(self.argument);
  self.call = nullptr;
  switching::switch_to(self.caller, worker::recycle, nullptr);
}

void worker::yield() noexcept {
  if (current() == nullptr) return;
  suspend(
      wait_reason::turn, nullptr, [](void*, stack& left) noexcept { current()->m_owner->place(left.resumption); }, nullptr);
}

}  // namespace trimtab::tasks

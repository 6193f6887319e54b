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

void worker_loop::set_current(worker* here) noexcept { this_threads_worker = here; }

worker::worker(runtime& owner, worker_queues& own, std::uint32_t number) noexcept
    : m_queues(&own), m_keeps_own(owner.m_table->keeps_own), m_number(number), m_owner(&owner) {
  m_since.store(base::now(), std::memory_order_relaxed);
}

void worker::wake() noexcept { m_owner->m_table->names_taker ? m_owner->wake(anyone) : m_owner->m_events.wake_one(); }

void worker::push_elsewhere(task& what) noexcept { m_owner->m_table->push(*m_owner, m_number, what); }

void worker::enter(worker_state next) noexcept {
  const base::ticks now = base::now();
  const base::ticks since = m_since.load(std::memory_order_relaxed);
  const worker_state last = m_state.load(std::memory_order_relaxed);
  single_writer_count* const sums[] = {&m_counters.busy_ticks, &m_counters.look_ticks, &m_counters.park_ticks,
                                &m_counters.cap_ticks};
  // Odd while it changes: who reads in between would lose a whole stretch, or count it twice.
  m_changes.fetch_add(1, std::memory_order_acq_rel);
  sums[static_cast<std::size_t>(last)]->add(now - since);
  m_since.store(now, std::memory_order_relaxed);
  // Release: who finds all asleep reads what their tasks wait for (tell_if_stuck).
  m_state.store(next, std::memory_order_release);
  m_changes.fetch_add(1, std::memory_order_acq_rel);
  if (recording::is_on()) {
    constexpr recording::state states[] = {recording::state::runs, recording::state::looks, recording::state::idle,
                                           recording::state::capped};
    recording::worker_state(states[static_cast<std::size_t>(next)]);
  }
}

void worker::run_recorded(task& what, task::place where) noexcept {
  const std::uint32_t subject = what.subject;
  const std::uint64_t id = what.id;
  *m_running = {what.kind_of_work, id, subject};
  if (id != 0) {
    recording::task_begin(subject, id);
    what.run(what, where);
    recording::task_end(subject, id);
    return;
  }
  const bool is_timed = m_tally.ran(subject);
  const std::uint64_t others = m_tally.total();
  // A task ends on the stack on which it began, but maybe at another worker.
  stack& on = *m_stack;
  const base::ticks waited = on.waited, begin = is_timed ? base::now() : 0;
  const std::uint64_t waits = on.waits, runs = ++on.runs;
  what.run(what, where);
  if (!is_timed) return;
  recording::tally& counts = current()->m_tally;
  // While it waited, others ran that are not inside it.
  const bool is_inclusive = on.waits == waits ? counts.total() != others : on.runs != runs;
  counts.took(subject, base::now() - begin - (on.waited - waited), is_inclusive);
}

stack& worker::unused_stack() {
  if (m_unused == nullptr) {
    stack* const made = m_owner->make_stack();
    if (made == nullptr) [[unlikely]] {
      std::fprintf(stderr, "trimtab: no memory for another stack of %zu bytes: too many tasks wait at once\n",
                   m_owner->m_options.stack_bytes);
      std::abort();
    }
    m_counters.stacks.add();
    return *made;
  }
  stack& taken = *m_unused;
  m_unused = taken.next;
  m_unused_count -= 1;
  return taken;
}

void worker::recycle(void*, stack* left) noexcept {
  worker& here = *current();
  left->next = here.m_unused;
  here.m_unused = left;
  here.m_unused_count += 1;
  here.m_owner->keep_few_unused(here);
}

void worker::suspend(wait_reason reason, const void* object, void (*published)(void*, stack&) noexcept,
                     void* argument) noexcept {
  worker& here = *current();
  stack& left = *here.m_stack;
  const base::ticks since = base::now();
  left.wait_begin.store(since, std::memory_order_relaxed);
  if (here.m_phase_begin != 0) {
    here.m_counters.timed_tasks.add();
    here.m_counters.timed_ticks.add(since - here.m_phase_begin);
    here.m_phase_begin = 0;
  }
  left.awaited_object.store(object, std::memory_order_relaxed);
  left.reason.store(reason, std::memory_order_relaxed);
  if (left.running.subject != 0) [[unlikely]] {
    here.m_tally.suspended(left.running.subject);
    recording::task_suspended(left.running.subject, left.running.id, cause_of(reason));
  }
  // What runs it leaves a loop's own stack, which becomes unused.
  left.resumption.run = [](task& self, task::place) noexcept {
    switching::to(&reinterpret_cast<stack&>(self), recycle, nullptr);
  };
  left.resumption.what = task::kind::resumption;
  here.m_counters.suspended.add();
  struct publication {
    void (*published)(void*, stack&) noexcept;
    void* argument;
  } given{published, argument};
  switching::to(
      &here.unused_stack(),
      [](void* given_here, stack* left_now) noexcept {
        const publication copy = *static_cast<publication*>(given_here);
        copy.published(copy.argument, *left_now);
      },
      &given);
  left.reason.store(wait_reason::none, std::memory_order_relaxed);
  if (!recording::is_on()) [[likely]]
    return;
  const base::ticks waited = base::now() - since;
  left.waited += waited;
  left.waits += 1;
  if (left.running.subject != 0) recording::task_resumed(left.running.subject, left.running.id, cause_of(reason), waited);
}

void worker::ready(stack& suspended) noexcept {
  worker* const here = current();
  if (suspended.running.id != 0 && here != nullptr && here->m_running != nullptr) [[unlikely]]
    recording::edge(here->m_running->id, suspended.running.id);
  if (here != nullptr && here->m_owner == suspended.owner) return here->push(suspended.resumption);
  suspended.owner->put(suspended.resumption);
}

void worker::run_on_new_stack(void (*f)(void*) noexcept, void* argument) noexcept {
  worker& here = *current();
  stack& other = here.unused_stack();
  other.call = f;
  other.argument = argument;
  other.caller = here.m_stack;
  switching::to(&other, nullptr, nullptr);
}

void worker_loop::run_call(stack& self) noexcept {
  self.call(self.argument);
  self.call = nullptr;
  switching::to(self.caller, worker::recycle, nullptr);
}

void worker::yield() noexcept {
  if (current() == nullptr) return;
  suspend(wait_reason::turn, nullptr, [](void*, stack& left) noexcept { current()->m_owner->put(left.resumption); }, nullptr);
}

}  // namespace trimtab::tasks

#include "trimtab/kernel/scheduler_account.hpp"

#include <algorithm>

namespace trimtab::kernel {

void scheduler_account::add(const scheduler_event& happened) {
  m_now_ns = std::max({m_now_ns, happened.time_ns, m_begin_ns});
  switch (happened.kind) {
    case event_kind::switched:
      return on_switch(happened);
    case event_kind::woken:
      return on_wake_up(happened);
    case event_kind::moved:
      return on_move(happened);
    case event_kind::lost:
      return on_lost(happened);
    case event_kind::ran:
      return on_report(happened);
    case event_kind::forked:
    case event_kind::named:
      return;
  }
}

scheduler_account::cpu_state& scheduler_account::cpu(std::uint16_t number) {
  if (m_cpus.size() <= number) m_cpus.resize(number + std::size_t{1}, {.since_ns = m_begin_ns, .queue = {}});
  return m_cpus[number];
}

thread_account& scheduler_account::account(thread_number thread) {
  thread_account& found = m_accounts[thread];
  found.thread = thread;
  return found;
}

void scheduler_account::charge_to(thread_number running, waiting& who, std::uint64_t now_ns) {
  const std::uint64_t ns = now_ns - who.charged_ns;
  who.charged_ns = now_ns;
  thread_account& waiter = account(who.thread);
  if (running == unknown_thread)
    waiter.unknown_ns += ns;
  else if (running == 0)
    waiter.idle_though_ready_ns += ns;
  else if (ns > 0) {
    charge& to = (who.how == waits::after_wake_up ? waiter.ran_after_wake_up : waiter.ran_after_preemption)[running];
    to.ns += ns;
    to.count += who.is_first_charge;
    who.is_first_charge = false;
  }
}

void scheduler_account::settle(cpu_state& which, std::uint64_t now_ns) {
  if (!which.is_seen) return;
  const std::uint64_t ns = now_ns - which.since_ns;
  which.since_ns = now_ns;
  if (which.running == 0)
    m_idle_ns += ns;
  else if (which.running != unknown_thread) {
    m_busy_ns += ns;
    thread_account& running = account(which.running);
    running.seen_running_ns += ns;
    running.unreported_ns += ns;
  }
  for (waiting& who : which.queue) charge_to(which.running, who, now_ns);
}

void scheduler_account::begin_wait(thread_number thread, waits how, std::uint16_t on, std::uint64_t now_ns) {
  cpu_state& queue_of = cpu(on);
  settle(queue_of, now_ns);
  queue_of.queue.push_back({thread, how, now_ns, now_ns});
  thread_state& state = m_states[thread];
  state.how = how;
  state.cpu = on;
  state.is_running = false;
}

scheduler_account::waiting scheduler_account::take_from_queue(thread_number thread, std::uint64_t now_ns) {
  cpu_state& queue_of = cpu(m_states[thread].cpu);
  settle(queue_of, now_ns);
  const auto found = std::ranges::find(queue_of.queue, thread, &waiting::thread);
  waiting taken = *found;
  if (!queue_of.is_seen) charge_to(unknown_thread, taken, now_ns);
  queue_of.queue.erase(found);
  return taken;
}

void scheduler_account::end_wait(thread_number thread, std::uint64_t now_ns, bool has_run) {
  thread_state& state = m_states[thread];
  if (state.how == waits::not_at_all) return;
  const waiting ended = take_from_queue(thread, now_ns);
  const std::uint64_t ns = now_ns - ended.since_ns;
  thread_account& own = account(thread);
  if (state.how == waits::after_wake_up) {
    own.woken_waits.add(ns);
    if (has_run && state.woken_by != 0) {
      charge& late = own.late_wakes[state.woken_by];
      late.ns += ns;
      late.count += 1;
    }
  } else {
    own.preempted_waits.add(ns);
  }
  state.how = waits::not_at_all;
}

void scheduler_account::infer_switch(const scheduler_event& happened) {
  const auto state = m_states.find(happened.thread);
  if (state == m_states.end() || state->second.how == waits::not_at_all) return;
  cpu_state &here = cpu(happened.cpu), &queue_of = cpu(state->second.cpu);
  const auto entry = std::ranges::find(queue_of.queue, happened.thread, &waiting::thread);
  const std::uint64_t since_ns = std::max({here.since_ns, queue_of.since_ns, entry->charged_ns});
  settle(here, since_ns);
  end_wait(happened.thread, since_ns, true);
  here.running = happened.thread;
  ++m_inferred;
}

void scheduler_account::on_switch(const scheduler_event& happened) {
  cpu_state& here = cpu(happened.cpu);
  if (!here.is_seen) here.running = happened.thread;
  if (here.running != happened.thread && here.running != unknown_thread) infer_switch(happened);
  // Events are missing.
  if (here.running != happened.thread) here.running = unknown_thread;
  here.is_seen = true;
  settle(here, m_now_ns);
  if (happened.thread != 0) {
    thread_account& leaving = account(happened.thread);
    (happened.can_run != 0 ? leaving.involuntary_switches : leaving.voluntary_switches) += 1;
    thread_state& state = m_states[happened.thread];
    state.is_running = false;
    // It was thought to wait elsewhere: events are missing.
    end_wait(happened.thread, m_now_ns, false);
    if (happened.can_run != 0) begin_wait(happened.thread, waits::after_preemption, happened.cpu, m_now_ns);
  }
  if (happened.other != 0) {
    end_wait(happened.other, m_now_ns, true);
    thread_state& state = m_states[happened.other];
    state.is_running = true;
    state.cpu = happened.cpu;
    account(happened.other);
  }
  // The queues may have moved: `here` is looked up again.
  cpu_state& after = cpu(happened.cpu);
  after.running = happened.other;
  for (waiting& who : after.queue) who.is_first_charge = true;
}

void scheduler_account::on_wake_up(const scheduler_event& happened) {
  if (happened.thread == 0) return;
  const thread_state& state = m_states[happened.thread];
  // It has not gone to sleep yet, or waits already.
  if (state.is_running || state.how != waits::not_at_all) return;
  begin_wait(happened.thread, waits::after_wake_up, happened.target_cpu, m_now_ns);
  m_states[happened.thread].woken_by = happened.other;
}

void scheduler_account::on_move(const scheduler_event& happened) {
  if (happened.thread == 0) return;
  account(happened.thread).moves += 1;
  if (m_states[happened.thread].how == waits::not_at_all) return;
  waiting moved = take_from_queue(happened.thread, m_now_ns);
  moved.is_first_charge = true;
  cpu_state& to = cpu(happened.target_cpu);
  settle(to, m_now_ns);
  to.queue.push_back(moved);
  m_states[happened.thread].cpu = happened.target_cpu;
}

void scheduler_account::on_lost(const scheduler_event& happened) {
  m_lost += happened.thread;
  cpu_state& here = cpu(happened.cpu);
  here.running = unknown_thread;
  here.is_seen = true;
  settle(here, m_now_ns);
}

void scheduler_account::on_report(const scheduler_event& happened) {
  if (happened.thread == 0) return;
  if (const thread_state& state = m_states[happened.thread]; state.is_running) settle(cpu(state.cpu), m_now_ns);
  thread_account& reported = account(happened.thread);
  // The first report may go back to before the recording.
  reported.reported_ns += std::min<std::uint64_t>(happened.other, m_now_ns - m_begin_ns);
  reported.unreported_ns = 0;
}

std::uint64_t scheduler_account::running_ns(const thread_account& thread) const noexcept {
  if (thread.reported_ns == 0) return thread.seen_running_ns;
  const std::uint64_t reported_ns = thread.reported_ns + thread.unreported_ns;
  return m_lost == 0 ? reported_ns : std::max(reported_ns, thread.seen_running_ns);
}

std::uint64_t scheduler_account::busy_ns() const noexcept {
  std::uint64_t sum_ns = 0;
  bool is_reported = false;
  for (const auto& [number, thread] : m_accounts) {
    sum_ns += running_ns(thread);
    is_reported |= thread.reported_ns > 0;
  }
  return is_reported ? std::min(sum_ns, m_busy_ns + m_idle_ns) : m_busy_ns;
}

void scheduler_account::settle_all(std::uint64_t now_ns) {
  m_now_ns = std::max(m_now_ns, now_ns);
  for (cpu_state& one : m_cpus) settle(one, m_now_ns);
}

void scheduler_account::end(std::uint64_t end_ns) {
  for (cpu_state& one : m_cpus) one.is_seen = true;
  settle_all(end_ns);
  for (const cpu_state& one : m_cpus)
    for (const waiting& who : one.queue) {
      thread_account& own = account(who.thread);
      (m_states[who.thread].how == waits::after_wake_up ? own.woken_waits : own.preempted_waits)
          .add(m_now_ns - who.since_ns);
    }
  for (cpu_state& one : m_cpus) one.queue.clear();
  m_states.clear();
}

}  // namespace trimtab::kernel

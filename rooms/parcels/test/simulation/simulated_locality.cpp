#include "simulation/simulated_locality.hpp"

#include <algorithm>
#include <utility>

#include "trimtab/parcels/calls/action.hpp"

namespace trimtab::parcels::simulation {

namespace {

constexpr std::int64_t own_thread_name = 1, first_worker_name = 2, beside_name = 1'000'000;

constexpr parcel_kind simulated_kind{.signature = 4711, .receive = [](const arrival&) {}};

const action& simulated_action() {
  static const action& result = action_registry::of_process().find_or_add(simulated_kind, nullptr);
  return result;
}

constexpr parcel_kind alone_kind{.signature = 4712, .receive = [](const arrival&) {}};

const action& action_sent_alone() {
  static action& result = [&]() -> action& {
    action& added = action_registry::of_process().find_or_add(alone_kind, nullptr);
    added.set({.rules = coalescing::way::strict, .count = 1}, true);
    return added;
  }();
  return result;
}

}  // namespace

step compute(nanoseconds duration) {
  return [duration](simulated_locality&, simulated_thread& worker) {
    worker.occupy(duration);
    return progress::done;
  };
}

step send(locality_number to, std::uint64_t parcels, std::size_t bytes) {
  return [=, content = std::vector<std::byte>(bytes), left = parcels](simulated_locality& self, simulated_thread&) mutable {
    if (left == 0) return progress::done;
    // As a real sender, which receives meanwhile.
    if (self.is_overfull(to)) return progress::waits;
    self.send_parcel(to, content);
    return --left == 0 ? progress::done : progress::again;
  };
}

step wait_until(std::function<bool()> is_over) {
  return [is_over = std::move(is_over)](simulated_locality&, simulated_thread&) {
    return is_over() ? progress::done : progress::waits;
  };
}

step call(std::function<void()> function) {
  return [function = std::move(function)](simulated_locality&, simulated_thread&) {
    function();
    return progress::done;
  };
}

simulated_locality::simulated_locality(std::shared_ptr<simulated_network> network, locality_number number,
                                       const coalescing& settings, const cpu_costs& costs, std::uint32_t workers)
    : m_network(std::move(network)), m_events(m_network->events()), m_costs(costs), m_beside(m_events) {
  auto link = std::make_unique<simulated_transport>(m_network, number);
  m_link = link.get();
  m_exchange =
      std::make_unique<exchange>(std::move(link), static_cast<parcel_sink&>(*this), 1.0, settings, std::size_t{64} << 20);
  m_link->set_on_event([this](bool is_wake) { on_transport_event(is_wake); });
  m_exchange->open();
  for (std::uint32_t index = 0; index < workers; ++index) {
    m_workers.push_back(std::make_unique<worker_state>(m_events, first_worker_name + index));
    m_workers.back()->thread.run([this, self = m_workers.back().get()] { turn(*self); });
  }
  wake_own_thread(m_events.now());
}

simulated_locality::~simulated_locality() { exchange::act_as(0); }

// One thread of the locality after the other.
template <class function>
auto simulated_locality::in_exchange(std::int64_t thread, function&& use) {
  m_events.spend_until(m_exchange_free_at);
  exchange::act_as(thread);
  m_network->client = static_cast<std::uint32_t>(thread);
  const auto result = use();
  exchange::act_as(0);
  m_exchange_free_at = m_events.now();
  return result;
}

void simulated_locality::add_task(task steps) {
  m_ready.push_back(std::make_unique<running_task>(running_task{std::move(steps)}));
  wake_workers();
}

void simulated_locality::send_parcel(locality_number to, bytes_view content) {
  m_events.spend(m_costs.parcel_ns);
  if (content.size() <= m_exchange->longest_queued()) return m_exchange->send(to, {simulated_action(), false, 0, content});
  const auto owner = std::make_shared<std::vector<std::byte>>(content.begin(), content.end());
  m_exchange->send_long(to, {simulated_action()}, {{*owner}, owner});
}

bool simulated_locality::try_send_alone(locality_number to, bytes_view content) {
  m_events.spend(m_costs.parcel_ns);
  return m_exchange->try_send(to, {action_sent_alone(), false, 0, content});
}

void simulated_locality::run_beside(std::function<void()> work, nanoseconds time) {
  m_beside.run(
      [this, work = std::move(work)] {
        in_exchange(beside_name, [&] {
          work();
          return 0;
        });
      },
      time);
}

std::uint64_t simulated_locality::running_and_eligible() const noexcept {
  std::uint64_t running = 0;
  for (const auto& self : m_workers) running += self->current != nullptr;
  return running + m_ready.size();
}

void simulated_locality::on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept {
  if (header.action == definition_action) return;
  m_events.spend(m_costs.receive_ns);
  ++m_received;
  if (m_on_parcel) m_on_parcel(from, content);
  if (!m_waiting.empty()) wake_workers();
}

// All that sleep: each of them may be what a waiting task needs.
void simulated_locality::wake_workers() {
  for (const auto& self : m_workers) {
    if (!self->sleeps || self->is_called) continue;
    self->is_called = true;
    self->thread.run([this, woken = self.get()] { turn(*woken); }, m_events.now() + m_costs.wake_up_ns);
  }
}

bool simulated_locality::take_task(worker_state& self) {
  // Those that wait are asked once each, in turn; a task that goes on waiting costs nothing.
  for (std::size_t left = m_waiting.size(); left > 0; --left) {
    std::unique_ptr<running_task> first = std::move(m_waiting.front());
    m_waiting.pop_front();
    const progress result = in_exchange(self.name, [&] { return first->steps[first->next](*this, self.thread); });
    if (result == progress::waits) {
      m_waiting.push_back(std::move(first));
      continue;
    }
    first->next += result == progress::done;
    self.current = std::move(first);
    return true;
  }
  if (m_ready.empty()) return false;
  self.current = std::move(m_ready.front());
  m_ready.pop_front();
  m_events.spend(m_costs.task_ns);
  return true;
}

void simulated_locality::turn(worker_state& self) {
  self.sleeps = self.is_called = false;
  if (self.current != nullptr || take_task(self)) {
    self.looks = 0;
    run_step(self);
  } else {
    look(self);
  }
  if (!self.sleeps) self.thread.run([this, next = &self] { turn(*next); });
}

void simulated_locality::run_step(worker_state& self) {
  running_task& running = *self.current;
  if (running.next == running.steps.size()) {
    m_finished += 1;
    return self.current.reset();
  }
  const progress result = in_exchange(self.name, [&] { return running.steps[running.next](*this, self.thread); });
  if (result == progress::done) running.next += 1;
  if (result == progress::waits) m_waiting.push_back(std::move(self.current));
}

void simulated_locality::look(worker_state& self) {
  if (in_exchange(self.name, [&] { return m_exchange->advance(); })) self.looks = 0;
  if (++self.looks < m_costs.looks || !m_ready.empty()) return self.thread.occupy(m_costs.look_gap_ns);
  self.looks = 0;
  if (in_exchange(self.name, [&] { return m_exchange->before_sleep(); }) || !m_ready.empty()) return;
  self.sleeps = true;
  if (m_rest == rest_state::naps) wake_own_thread(m_events.now() + m_costs.wake_up_ns);
}

void simulated_locality::wake_own_thread(nanoseconds time) {
  m_rest = rest_state::awake;
  m_events.add(time, [this, number = ++m_rest_number] {
    if (number == m_rest_number) look_as_own_thread();
  });
}

void simulated_locality::look_as_own_thread() {
  m_rest = rest_state::awake;
  const exchange::rest_plan plan = in_exchange(own_thread_name, [&] { return m_exchange->look_as_own_thread(); });
  const bool must_look = plan.ns == 0 || (!plan.is_nap && (m_link->has_arrived() || m_must_wake));
  if (!plan.is_nap) m_must_wake = false;
  // Even a look that ends at once takes time: without it, who looks until a time has come would look forever.
  wake_own_thread(m_events.now() + (must_look ? m_costs.look_gap_ns : plan.ns));
  if (!must_look) m_rest = plan.is_nap ? rest_state::naps : rest_state::sleeps;
}

void simulated_locality::on_transport_event(bool is_wake) {
  if (m_rest == rest_state::sleeps || (m_rest == rest_state::naps && is_wake))
    wake_own_thread(m_events.now() + m_costs.wake_up_ns);
  else
    m_must_wake = true;
}

}  // namespace trimtab::parcels::simulation

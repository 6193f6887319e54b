#include "servers/communication_server.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "trimtab/base/signals_held.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::uint64_t shortest_retry_ns = 10'000;
constexpr std::uint64_t longest_retry_ns = 500'000;
// A refusal ends a wait of some transports, which then looks like room. So what such a wait signals is followed only after
// this part of the pause: else server and receiver would wake each other all the time.
constexpr std::uint64_t part_of_pause = 4;
constexpr int most_in_a_row = 64;  // messages, before backlogs are looked at

// Where it is not permitted the thread stays free to move.
bool bind_this_thread(std::uint32_t cpu) noexcept {
  cpu_set_t* const mask = CPU_ALLOC(base::cpu_mask::most);
  if (mask == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(base::cpu_mask::most);
  CPU_ZERO_S(bytes, mask);
  CPU_SET_S(cpu, bytes, mask);
  const bool is_bound = pthread_setaffinity_np(pthread_self(), bytes, mask) == 0;
  CPU_FREE(mask);
  return is_bound;
}

}  // namespace

communication_server::communication_server(const server_surroundings& shared)
    : m_shared(shared), m_slots(std::make_unique<message_slot[]>(slots)), m_backlogs(shared.destinations.size()) {
  m_stalled.reserve(shared.destinations.size());
  for (std::uint32_t slot = 0; slot < slots; ++slot) m_free.push(slot);
}

communication_server::~communication_server() {
  m_stops.store(true, std::memory_order_seq_cst);
  m_sleep.wake_all();
  if (m_thread.joinable()) m_thread.join();
}

bool communication_server::start(std::optional<std::uint32_t> cpu) {
  m_ns_per_tick = tasks::runtime::ns_per_tick();  // chooses the clock, before the server reads it
  m_begin_ns = base::monotonic_ns();
  try {
    const base::signals_held no_signals;
    m_thread = std::thread([this, cpu] { run(cpu); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

// `unsent` grows before the server can see the message, so it never falls below 0.
bool communication_server::give(locality_number to, std::span<const bytes_view> parts, std::size_t size) noexcept {
  std::uint32_t slot = 0;
  if (!m_free.take(slot)) return false;
  if (!m_slots[slot].fill(to, parts, size)) {
    m_free.push(slot);
    return false;
  }
  m_shared.destinations[to].unsent.fetch_add(1, std::memory_order_relaxed);
  m_arrived.push(slot);
  m_sleep.wake_one();
  return true;
}

// Writes the wish and then looks for a slot; finish() gives the slot back and then looks for a wish.
void communication_server::want_slot() noexcept {
  m_full_queues.fetch_add(1, std::memory_order_relaxed);
  m_is_slot_wanted.store(true, std::memory_order_seq_cst);
  if (m_free.has_one()) m_shared.inner.wake();
}

void communication_server::signal_room() noexcept {
  if (!m_has_backlog.load(std::memory_order_relaxed)) return;
  m_is_room_signalled.store(true, std::memory_order_seq_cst);
  m_sleep.wake_one();
}

server_counts communication_server::counts() const noexcept {
  const auto life_ns = static_cast<double>(base::monotonic_ns() - m_begin_ns);
  const auto life = static_cast<std::uint64_t>(life_ns / m_ns_per_tick);
  return {m_messages.get(), m_bytes.get(),    m_dropped.get(),    m_full_queues.load(std::memory_order_relaxed),
          m_sleeps.get(),   m_refusals.get(), m_busy_ticks.get(), life};
}

void communication_server::run(std::optional<std::uint32_t> cpu) noexcept {
  pthread_setname_np(pthread_self(), "parcels-server");
  m_has_own_cpu = cpu && bind_this_thread(*cpu);
  while (!m_stops.load(std::memory_order_relaxed)) {
    const base::ticks begin = base::now();
    const bool has_sent_new = send_arrived();
    const bool has_sent_old = retry_backlogs();
    if (!has_sent_new && !has_sent_old) {
      rest();
      continue;
    }
    m_busy_ticks.add(base::now() - begin);
    m_idle_since_ns = 0;
  }
}

bool communication_server::send_arrived() noexcept {
  bool has_sent = false;
  std::uint32_t slot = 0;
  for (int count = 0; count < most_in_a_row && m_arrived.take(slot); ++count) has_sent = send_one(slot) || has_sent;
  return has_sent;
}

bool communication_server::send_one(std::uint32_t slot) noexcept {
  const locality_number to = m_slots[slot].receiver();
  if (m_backlogs[to].first == message_slot::none) {
    const send_status status = send_now(m_slots[slot]);
    if (status != send_status::no_room) return finish(slot, status), true;
  }
  keep(to, slot);
  return false;
}

send_status communication_server::send_now(const message_slot& message) noexcept {
  destination& target = m_shared.destinations[message.receiver()];
  if (target.is_gone.load(std::memory_order_relaxed)) return send_status::gone;
  if (!target.begin_sending()) return send_status::no_room;
  const bytes_view bytes = message.bytes();
  const send_status status = m_shared.inner.try_send(message.receiver(), std::span(&bytes, 1));
  target.end_sending();
  if (status == send_status::gone) target.is_gone.store(true, std::memory_order_relaxed);
  if (status == send_status::no_room) m_refusals.add();
  return status;
}

void communication_server::keep(locality_number to, std::uint32_t slot) noexcept {
  backlog& waiting = m_backlogs[to];
  m_slots[slot].next = message_slot::none;
  if (waiting.first != message_slot::none) {
    m_slots[waiting.last].next = slot;
    waiting.last = slot;
    return;
  }
  waiting = {slot, slot, base::monotonic_ns(), shortest_retry_ns};
  m_stalled.push_back(to);
  m_has_backlog.store(true, std::memory_order_relaxed);
}

bool communication_server::retry_backlogs() noexcept {
  if (m_stalled.empty()) return false;
  const bool may_have_room = m_is_room_signalled.exchange(false, std::memory_order_relaxed);
  const std::uint64_t now_ns = base::monotonic_ns();
  bool has_sent = false;
  for (const locality_number to : m_stalled) {
    const backlog& waiting = m_backlogs[to];
    const std::uint64_t pause_ns = may_have_room ? waiting.pause_ns / part_of_pause : waiting.pause_ns;
    const bool is_due =
        now_ns >= waiting.tried_ns + pause_ns || m_shared.destinations[to].is_gone.load(std::memory_order_relaxed);
    if (is_due) has_sent = send_backlog(to, now_ns) || has_sent;
  }
  std::erase_if(m_stalled, [&](locality_number to) { return m_backlogs[to].first == message_slot::none; });
  m_has_backlog.store(!m_stalled.empty(), std::memory_order_relaxed);
  return has_sent;
}

bool communication_server::send_backlog(locality_number to, std::uint64_t now_ns) noexcept {
  backlog& waiting = m_backlogs[to];
  bool has_sent = false;
  while (waiting.first != message_slot::none) {
    const std::uint32_t slot = waiting.first, next = m_slots[slot].next;
    const send_status status = send_now(m_slots[slot]);
    if (status == send_status::no_room) break;
    waiting.first = next;
    finish(slot, status);
    has_sent = true;
  }
  waiting.tried_ns = now_ns;
  waiting.pause_ns = has_sent ? shortest_retry_ns : std::min(2 * waiting.pause_ns, longest_retry_ns);
  return has_sent;
}

void communication_server::finish(std::uint32_t slot, send_status status) noexcept {
  destination& target = m_shared.destinations[m_slots[slot].receiver()];
  if (status == send_status::sent) {
    m_messages.add();
    m_bytes.add(m_slots[slot].bytes().size());
  } else {
    m_dropped.add();
  }
  m_free.push(slot);
  const bool is_slot_wanted =
      m_is_slot_wanted.load(std::memory_order_seq_cst) && m_is_slot_wanted.exchange(false, std::memory_order_relaxed);
  if (target.end_message() || is_slot_wanted) m_shared.inner.wake();
  m_shared.drained.wake_all();
}

// Announces its sleep, and then looks once more for what it waits for: clients do it the other way round.
void communication_server::rest() noexcept {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (m_idle_since_ns == 0) m_idle_since_ns = now_ns;
  if (now_ns - m_idle_since_ns < m_shared.looks_before_sleep_ns.load(std::memory_order_relaxed)) {
    if (!m_has_own_cpu) sched_yield();
    return;
  }
  const std::uint64_t longest_ns = longest_sleep_ns(now_ns);
  const std::uint32_t key = m_sleep.prepare();
  if (m_arrived.has_one() || m_stops.load(std::memory_order_seq_cst) ||
      m_is_room_signalled.load(std::memory_order_seq_cst)) {
    m_sleep.cancel();
    if (m_stalled.empty()) m_is_room_signalled.store(false, std::memory_order_relaxed);
    return;
  }
  m_sleeps.add();
  m_sleep.wait(key, longest_ns);
}

// Until the first backlog is due; 0: nothing but a client or the end.
std::uint64_t communication_server::longest_sleep_ns(std::uint64_t now_ns) const noexcept {
  if (m_stalled.empty()) return 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  for (const locality_number to : m_stalled)
    first_ns = std::min(first_ns, m_backlogs[to].tried_ns + m_backlogs[to].pause_ns);
  return first_ns > now_ns ? first_ns - now_ns : 1;
}

}  // namespace trimtab::parcels

#include "transport/shm_member.hpp"

#include <cstring>

namespace trimtab::parcels {

std::string shm_member::open(const membership& self, const shm_options& options) {
  if (std::string error = m_segment.join(self, options); !error.empty()) return error;
  m_number = self.number;
  m_size = self.size;
  m_attention = &m_segment.attention(m_number);
  m_bell = std::make_unique<doorbell>(m_attention->bell);
  attach_rings();
  if (std::string error = m_segment.wait_for_all(self.patience_ns); !error.empty()) return error;
  return watch_others();
}

void shm_member::attach_rings() {
  m_outgoing = std::vector<outgoing>(m_size);
  m_incoming = std::vector<incoming>(m_size);
  for (locality_number other = 0; other < m_size; ++other) {
    m_outgoing[other].attention = &m_segment.attention(other);
    m_outgoing[other].ring.attach(m_segment.ring(m_number, other));
    m_incoming[other].ring.attach(m_segment.ring(other, m_number));
  }
  m_largest_message = m_segment.ring(m_number, m_number).largest_message();
}

std::string shm_member::watch_others() {
  bool have_all_membarrier = true;
  std::vector<watched_process> processes;
  for (locality_number other = 0; other < m_size; ++other) {
    const member_slot& slot = m_segment.slot(other);
    have_all_membarrier = have_all_membarrier && slot.has_membarrier != 0;
    m_incoming[other].host.assign(slot.host, strnlen(slot.host, sizeof slot.host));
    m_incoming[other].process = slot.process;
    if (slot.process != m_segment.slot(m_number).process) processes.push_back({other, slot.process, slot.start_time});
  }
  m_fence = process_fence(have_all_membarrier);
  return m_watch.start(processes, [this](locality_number other) {
    m_incoming[other].is_dead.store(true, std::memory_order_release);
    add_own_news();
  });
}

shm_member::~shm_member() {
  if (m_attention != nullptr) change_state(presence::closed);
}

bool shm_member::leave(std::uint64_t) noexcept {
  change_state(presence::left);
  return true;  // what was sent is in the receivers' rings
}

// The release pairs with the acquire in ending_of: who sees the state sees all messages.
void shm_member::change_state(presence state) noexcept {
  presence expected = presence::member;
  if (!m_segment.slot(m_number).state.compare_exchange_strong(expected, state, std::memory_order_acq_rel)) return;
  for (locality_number other = 0; other < m_size; ++other) {
    if (other == m_number) continue;
    member_attention& attention = m_segment.attention(other);
    attention.news.fetch_add(1, std::memory_order_seq_cst);
    m_fence.light();
    doorbell(attention.bell).ring_if_asleep();
  }
}

void shm_member::add_own_news() noexcept {
  m_attention->news.fetch_add(1, std::memory_order_seq_cst);
  m_fence.light();
  m_bell->ring_if_asleep();
}

send_status shm_member::try_send(locality_number to, std::span<const bytes_view> parts) noexcept {
  std::size_t size = 0;
  for (const bytes_view part : parts) size += part.size();
  outgoing& target = m_outgoing[to];
  if (target.is_gone.load(std::memory_order_relaxed)) [[unlikely]]
    return send_status::gone;
  const write_result result = target.ring.write(parts, size);
  if (result != write_result::written) [[unlikely]]
    return refuse(to, result);
  announce(to);
  return send_status::sent;
}

// The message has been published. Pairs with the heavy fences of wait() and cool_rings(): either they see the message, or
// this sees what they have changed before. The bit is set before the bell is read, so that a receiver which is woken finds
// the bit.
inline void shm_member::announce(locality_number to) noexcept {
  member_attention& attention = *m_outgoing[to].attention;
  const std::uint64_t bit = bit_of(m_number % groups);
  m_fence.light();
  if ((attention.ready.load(std::memory_order_relaxed) & bit) == 0) [[unlikely]]
    attention.ready.fetch_or(bit, std::memory_order_seq_cst);
  doorbell(attention.bell).ring_if_asleep();
}

send_status shm_member::refuse(locality_number to, write_result reason) noexcept {
  if (reason == write_result::damaged) {
    m_incoming[to].is_damaged.store(true, std::memory_order_release);
    add_own_news();
  }
  if (ending_of(to) != ending::none) {
    m_outgoing[to].is_gone.store(true, std::memory_order_relaxed);
    return send_status::gone;
  }
  // A thread that waits already does not know that this one wants room.
  m_fence.light();
  m_bell->ring_if_asleep();
  return send_status::no_room;
}

bool shm_member::has_news() const noexcept {
  return m_attention->news.load(std::memory_order_relaxed) != m_seen_news.load(std::memory_order_relaxed);
}

bool shm_member::has_ready_message(std::uint64_t ready) const noexcept {
  for (locality_number from = 0; from < m_size; ++from)
    if ((ready & bit_of(from % groups)) != 0 && m_incoming[from].ring.may_have_message()) return true;
  return false;
}

bool shm_member::has_something_to_do() noexcept {
  bool has_room = false;
  for (outgoing& target : m_outgoing) has_room = target.ring.has_wanted_room() || has_room;
  return has_room || has_news() || has_ready_message(m_attention->ready.load(std::memory_order_relaxed));
}

void shm_member::wait(std::uint64_t ns) noexcept {
  if (m_bell->begin_sleep() && ns != 0 && !has_something_to_do()) {
    m_fence.heavy();
    if (!has_something_to_do()) m_bell->sleep(ns);
  }
  m_bell->end_sleep();
}

opened_transport open_shm(const membership& self, const shm_options& options) {
  auto link = std::make_unique<shm_member>();
  std::string error = link->open(self, options);
  if (!error.empty()) return {nullptr, std::move(error)};
  return {std::move(link), {}};
}

}  // namespace trimtab::parcels

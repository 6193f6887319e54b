#include "trimtab/tasks/graph/graph_node.hpp"

#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/futures/state.hpp"
#include "trimtab/tasks/graph/graph.hpp"

namespace trimtab::tasks {

namespace {

constexpr std::int64_t abandoned = INT64_MIN / 2;

}  // namespace

void event_state::satisfy(reference<data_block> payload) {
  const std::int64_t previous = m_left.fetch_sub(1, std::memory_order_acq_rel);
  if (previous > 1) return;
  if (previous < abandoned / 2) throw graph_error("trimtab: " + text() + " is satisfied, but its graph has ended");
  if (previous < 1) {
    if (m_kind == event_kind::sticky) return;
    throw graph_error("trimtab: " + text() +
                      (m_kind == event_kind::latch ? " is a latch that has been counted down already"
                                                   : " may be satisfied once, and has been already"));
  }
  happen(std::move(payload));
}

void event_state::happen(reference<data_block> payload) noexcept {
  m_payload = std::move(payload);
  if (recording::is_enabled()) [[unlikely]]
    if (worker* const this_worker = worker::current(); this_worker != nullptr) m_satisfied_by = this_worker->running().id;
  m_ready_event.complete();
}

void event_state::count_up(std::int64_t count) {
  std::int64_t left = m_left.load(std::memory_order_acquire);
  do {
    if (m_kind != event_kind::latch || left < 1)
      throw graph_error("trimtab: " + text() + " cannot count " + std::to_string(count) + " more: it " +
                        (m_kind != event_kind::latch ? "is no latch" : "has been counted down already"));
  } while (!m_left.compare_exchange_weak(left, left + count, std::memory_order_acq_rel, std::memory_order_acquire));
}

void event_state::abandon() noexcept {
  if (!has_happened()) m_left.store(abandoned, std::memory_order_release);
}

namespace detail {

graph_node::graph_node(graph& owner, std::string_view name, void (*free)(graph_node&) noexcept)
    : m_graph(owner), m_name(name), m_free(free), m_output(*new event_state(m_id, event_kind::single, 1, name)) {
  m_kind.node = this;
}

void graph_node::set_up_slots(graph_slot* slots, graph_slot** order, std::uint32_t count) noexcept {
  static_cast<task_kind&>(m_kind) = *kind_of_work;
  if (m_kind.name == nullptr && !m_name.empty()) m_kind.name = m_name.c_str();
  m_kind.never_waits = true;
  kind_of_work = &m_kind;
  m_slots = slots;
  m_order = order;
  m_count = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    slots[i].node = this;
    slots[i].notify = [](waiter& self) noexcept { static_cast<graph_slot&>(self).node->satisfied(); };
    slots[i].notify_access = [](data_block::request& self) noexcept {
      auto& slot = static_cast<graph_slot&>(self);
      graph_node& node = *slot.node;
      if (slot.result == data_block::answer::granted)
        node.acquire_from(node.m_next + 1);
      else
        node.refuse(node.m_next, slot, slot.result);
    };
  }
}

// After this it may have run, and be gone.
void graph_node::bind() {
  for (std::uint32_t i = 0; i < m_count; ++i) {
    graph_slot& slot = m_slots[i];
    if (slot.block && slot.block->is_destroyed()) throw graph_error(text_of(slot) + ", which has been destroyed");
    const bool writes = slot.mode == access_mode::read_write || slot.mode == access_mode::exclusive_write;
    if (slot.block && writes && slot.block->is_constant()) throw graph_error(text_of(slot) + ", which is constant");
  }
  m_graph.add(*this);
  m_missing.store(m_count + 1, std::memory_order_relaxed);
  const std::uint32_t count = m_count;
  // The last token is ours, so that it is still there.
  for (std::uint32_t i = 0; i < count; ++i)
    if (!m_slots[i].source || !m_slots[i].source->ready_event().add(m_slots[i])) satisfied();
  satisfied();
}

void graph_node::satisfied() noexcept {
  if (m_missing.fetch_sub(1, std::memory_order_acq_rel) == 1) eligible();
}

void graph_node::eligible() noexcept {
  m_graph.began();
  for (std::uint32_t i = 0; i < m_count; ++i) {
    graph_slot& slot = m_slots[i];
    if (id != 0 && slot.source && slot.source->satisfied_by() != 0) [[unlikely]]
      recording::edge(slot.source->satisfied_by(), id, recording::cause::slot);
    if (!slot.has_data) continue;
    if (slot.source) slot.block = slot.source->payload();
    std::uint32_t position = m_blocks++;
    // Of the same block the strictest reader first: it stands for the others.
    const auto has_smaller_block = [](const graph_slot& a, const graph_slot& b) {
      return a.block->id() != b.block->id() ? a.block->id() < b.block->id() : a.mode > b.mode;
    };
    for (; position > 0 && has_smaller_block(slot, *m_order[position - 1]); --position)
      m_order[position] = m_order[position - 1];
    m_order[position] = &slot;
  }
  for (std::uint32_t i = 1; i < m_blocks; ++i) {
    const graph_slot &left = *m_order[i - 1], &right = *m_order[i];
    const auto reads = [](access_mode mode) { return mode == access_mode::read_only || mode == access_mode::constant; };
    if (left.block->id() != right.block->id() || (reads(left.mode) && reads(right.mode))) continue;
    if (left.mode == access_mode::read_write && right.mode == access_mode::read_write) continue;
    fail(std::make_exception_ptr(graph_error(text_of(right) + ", which its " + "slot " + std::to_string(&left - m_slots) +
                                             " has as " + name_of(left.mode))));
    return leave();
  }
  acquire_from(0);
}

bool graph_node::is_repeated(std::uint32_t in_order) const noexcept {
  return in_order > 0 && m_order[in_order]->block->id() == m_order[in_order - 1]->block->id();
}

// Until one is queued for: then whoever makes way goes on here.
void graph_node::acquire_from(std::uint32_t slot_index) noexcept {
  for (; slot_index < m_blocks; ++slot_index) {
    if (is_repeated(slot_index)) continue;
    m_next = slot_index;
    const graph_slot& slot = *m_order[slot_index];
    const data_block::answer result = slot.block->acquire(*m_order[slot_index]);
    if (result == data_block::answer::queued) return;
    if (result != data_block::answer::granted) return refuse(slot_index, slot, result);
  }
  m_graph.start(*this);
}

void graph_node::release_blocks(std::uint32_t held) noexcept {
  while (held-- > 0)
    if (!is_repeated(held)) m_order[held]->block->release_access();
}

void graph_node::refuse(std::uint32_t held, const graph_slot& slot, data_block::answer result) noexcept {
  fail(std::make_exception_ptr(graph_error(
      text_of(slot) + (result == data_block::answer::is_constant ? ", which is constant" : ", which has been destroyed"))));
  release_blocks(held);
  leave();
}

void graph_node::end(reference<data_block> result, bool has_failed) noexcept {
  release_blocks(m_blocks);
  if (!has_failed) m_output->happen(std::move(result));
  leave();
}

void graph_node::fail(std::exception_ptr error) noexcept { m_graph.failed(std::move(error)); }

void graph_node::leave() noexcept {
  graph& owner = m_graph;
  owner.remove(*this);
  m_free(*this);
  owner.ended();
}

std::string graph_node::text_of(const graph_slot& slot) const {
  return "trimtab: " + text() + ": slot " + std::to_string(&slot - m_slots) + " wants " + name_of(slot.mode) +
         " access to " + slot.block->text();
}

std::string graph_node::missing() const {
  for (std::uint32_t i = 0; i < m_count; ++i)
    if (m_slots[i].source && !m_slots[i].source->has_happened())
      return "slot " + std::to_string(i) + " waits for " + m_slots[i].source->text();
  return {};
}

void graph_node::abandon_sources() noexcept {
  for (std::uint32_t i = 0; i < m_count; ++i)
    if (m_slots[i].source) m_slots[i].source->abandon();
}

void check_may_wait(wait_reason reason) {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr || this_worker->running().kind_of_work == nullptr ||
      !this_worker->running().kind_of_work->never_waits)
    return;
  const auto& kind = static_cast<const graph_task_kind&>(*this_worker->running().kind_of_work);
  throw graph_error("trimtab: " + kind.node->text() + " of a graph would wait for " + text_of(reason) +
                    ": such tasks never wait; make it an input slot");
}

}  // namespace detail
}  // namespace trimtab::tasks

#include "trimtab/tasks/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/futures/state.hpp"

namespace trimtab::tasks {

// Tasks that have not ended, in several lists, so that workers seldom meet.
struct graph::parts {
  struct alignas(64) list {
    base::spin_lock lock;
    detail::graph_node* first = nullptr;
  };
  list& of(const detail::graph_node& node) noexcept { return lists[(node.node_id().value() >> 2) % lists.size()]; }

  std::array<list, 16> lists;
  base::spin_lock error_lock;
  std::exception_ptr error;
};

graph::graph() : graph(*detail::home_of_caller()) {}

graph::graph(runtime& on) : m_home(on), m_parts(std::make_unique<parts>()) {}

graph::~graph() {
  settle();
  for (parts::list& each : m_parts->lists)
    while (each.first != nullptr) {
      detail::graph_node& left = *each.first;
      left.abandon_sources();
      remove(left);
      left.m_free(left);
    }
}

event<> graph::make_latch(std::int64_t count, std::string_view name) {
  if (count < 1) throw graph_error("trimtab: a latch is to count " + std::to_string(count) + ", expected at least 1");
  return make_counting<void>(event_kind::latch, count, name);
}

void graph::begin(detail::graph_node& made, std::int32_t worker) {
  made.m_worker = worker;
  try {
    made.bind();
  } catch (...) {
    made.m_free(made);
    throw;
  }
}

void graph::add(detail::graph_node& made) noexcept {
  parts::list& into = m_parts->of(made);
  const std::lock_guard guard(into.lock);
  made.m_next_node = into.first;
  if (into.first != nullptr) into.first->m_previous_node = &made;
  into.first = &made;
}

void graph::remove(detail::graph_node& gone) noexcept {
  parts::list& from = m_parts->of(gone);
  const std::lock_guard guard(from.lock);
  (gone.m_previous_node != nullptr ? gone.m_previous_node->m_next_node : from.first) = gone.m_next_node;
  if (gone.m_next_node != nullptr) gone.m_next_node->m_previous_node = gone.m_previous_node;
}

void graph::start(detail::graph_node& ready) noexcept {
  worker* const here = worker::current();
  if (ready.subject != 0) [[unlikely]]
    recording::task_ready(ready.subject, ready.id, here != nullptr ? here->running().id : 0);
  if (here == nullptr || &here->owner() != &m_home) return m_home.submit(ready, ready.m_worker);
  here->counters().made.add();
  if (ready.m_worker < 0)
    here->push(ready);
  else
    m_home.put(ready, ready.m_worker);
}

void graph::failed(std::exception_ptr error) noexcept {
  const std::lock_guard guard(m_parts->error_lock);
  if (!m_parts->error) m_parts->error = std::move(error);
}

void graph::settle() {
  completion done;
  m_waiting = &done;
  if (m_active.fetch_sub(1, std::memory_order_acq_rel) != 1) done.wait(wait_reason::graph);
  m_active.fetch_add(1, std::memory_order_relaxed);
}

void graph::wait() {
  detail::check_may_wait(wait_reason::graph);
  settle();
  if (const std::exception_ptr error = std::exchange(m_parts->error, nullptr)) std::rethrow_exception(error);
  if (const std::string left = unsatisfied(); !left.empty()) throw graph_error(left);
}

std::string graph::unsatisfied() const {
  std::vector<const detail::graph_node*> waiting;
  for (const parts::list& each : m_parts->lists)
    for (const detail::graph_node* node = each.first; node != nullptr; node = node->m_next_node) waiting.push_back(node);
  if (waiting.empty()) return {};
  std::sort(waiting.begin(), waiting.end(), [](auto* a, auto* b) { return a->node_id() < b->node_id(); });
  constexpr std::size_t most = 20;
  std::string told = "trimtab: nothing in the graph can run, and of " + std::to_string(waiting.size()) +
                     (waiting.size() == 1 ? " task" : " tasks") + " not all slots are satisfied:";
  for (std::size_t i = 0; i < std::min(most, waiting.size()); ++i)
    told += "\n  " + waiting[i]->text() + ": " + waiting[i]->missing();
  if (waiting.size() > most) told += "\n  and " + std::to_string(waiting.size() - most) + " more";
  return told;
}

}  // namespace trimtab::tasks

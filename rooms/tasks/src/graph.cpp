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
  list& list_of(const detail::graph_node& node) noexcept { return lists[(node.node_id().value() >> 2) % lists.size()]; }

  std::array<list, 16> lists;
  base::spin_lock error_lock;
  std::exception_ptr error;
};

graph::graph() : graph(*detail::home_of_caller()) {}

graph::graph(runtime& executor) : m_home(executor), m_parts(std::make_unique<parts>()) {}

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

void graph::begin(detail::graph_node& node, std::int32_t worker) {
  node.m_worker = worker;
  try {
    node.bind();
  } catch (...) {
    node.m_free(node);
    throw;
  }
}

void graph::add(detail::graph_node& node) noexcept {
  parts::list& partition = m_parts->list_of(node);
  const std::lock_guard guard(partition.lock);
  node.m_next_node = partition.first;
  if (partition.first != nullptr) partition.first->m_previous_node = &node;
  partition.first = &node;
}

void graph::remove(detail::graph_node& node) noexcept {
  parts::list& partition = m_parts->list_of(node);
  const std::lock_guard guard(partition.lock);
  (node.m_previous_node != nullptr ? node.m_previous_node->m_next_node : partition.first) = node.m_next_node;
  if (node.m_next_node != nullptr) node.m_next_node->m_previous_node = node.m_previous_node;
}

void graph::start(detail::graph_node& ready) noexcept {
  worker* const this_worker = worker::current();
  if (ready.subject != 0) [[unlikely]]
    recording::task_ready(ready.subject, ready.id, this_worker != nullptr ? this_worker->running().id : 0);
  // Only now: graphs are often complete before the first of their tasks runs.
  if (const char* const name = ready.kind_of_work->name; name != nullptr)
    ready.level = level_of_kind(name, ready.level);
  else
    ready.level = priorities_of_kinds.level_of(ready.name(), ready.level);
  if (this_worker == nullptr || &this_worker->owner() != &m_home) return m_home.submit(ready, ready.m_worker);
  this_worker->counters().created.add();
  if (ready.m_worker < 0)
    this_worker->push(ready);
  else
    m_home.place(ready, ready.m_worker);
}

void graph::failed(std::exception_ptr error) noexcept {
  const std::lock_guard guard(m_parts->error_lock);
  if (!m_parts->error) m_parts->error = std::move(error);
}

void graph::settle() {
  completion all_ended;
  m_waiting = &all_ended;
  if (m_active.fetch_sub(1, std::memory_order_acq_rel) != 1) all_ended.wait(wait_reason::graph);
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
  for (const parts::list& partition : m_parts->lists)
    for (const detail::graph_node* node = partition.first; node != nullptr; node = node->m_next_node)
      waiting.push_back(node);
  if (waiting.empty()) return {};
  std::sort(waiting.begin(), waiting.end(), [](auto* a, auto* b) { return a->node_id() < b->node_id(); });
  constexpr std::size_t limit = 20;
  std::string text = "trimtab: nothing in the graph can run, and of " + std::to_string(waiting.size()) +
                     (waiting.size() == 1 ? " task" : " tasks") + " not all slots are satisfied:";
  for (std::size_t i = 0; i < std::min(limit, waiting.size()); ++i)
    text += "\n  " + waiting[i]->text() + ": " + waiting[i]->missing();
  if (waiting.size() > limit) text += "\n  and " + std::to_string(waiting.size() - limit) + " more";
  return text;
}

}  // namespace trimtab::tasks

// Events and tasks of graphs, without the types of what they carry. graph.hpp is the front of this.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "trimtab/tasks/core/reference.hpp"
#include "trimtab/tasks/core/task.hpp"
#include "trimtab/tasks/core/waiting.hpp"
#include "trimtab/tasks/graph/data_block.hpp"

namespace trimtab::tasks {

class graph;

// What is wrong with a graph; names the tasks, slots, blocks and events.
class graph_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// How often an event may be satisfied. single: a second time is an error. sticky: only the first time counts.
// latch: as often as it counts, then it has happened.
enum class event_kind : std::uint8_t { single, sticky, latch };

// Something that happens once, maybe with a block, and the slots that are bound to it.
class event_state {
 public:
  event_state(identity id, event_kind kind, std::int64_t count, std::string_view name)
      : m_id(id), m_name(name), m_kind(kind), m_left(count) {}
  event_state(const event_state&) = delete;
  event_state& operator=(const event_state&) = delete;

  void retain() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  identity id() const noexcept { return m_id; }
  std::string text() const { return m_id.text(m_name); }
  bool has_happened() const noexcept { return m_ready_event.is_ready(); }
  // Throws graph_error when it may not be any more.
  void satisfy(reference<data_block> payload);
  // For who alone satisfies it: the task whose output it is.
  void happen(reference<data_block> payload) noexcept;
  // A latch has so many more to count, which must not have happened yet.
  void count_up(std::int64_t count);
  // Of an event that has happened; null: none.
  const reference<data_block>& payload() const noexcept { return m_payload; }
  completion& ready_event() noexcept { return m_ready_event; }
  // In a traced run, the task that has satisfied it.
  std::uint64_t satisfied_by() const noexcept { return m_satisfied_by; }
  // Those who wait are gone, untold.
  void abandon() noexcept;

 private:
  ~event_state() = default;

  std::atomic<std::uint32_t> m_references{1};
  const identity m_id;  // of the task, for a task's output
  const std::string m_name;
  const event_kind m_kind;
  std::atomic<std::int64_t> m_left;
  reference<data_block> m_payload;
  std::uint64_t m_satisfied_by = 0;
  completion m_ready_event;
};

namespace detail {

class graph_node;

// An input of a task: bound to a block, or to an event, which may bring a block.
struct graph_slot : waiter, data_block::request {
  graph_node* node = nullptr;
  reference<event_state> source;
  reference<data_block> block;
  bool has_data = false;
};

// How it is known to a running task that it must not wait.
struct graph_task_kind : task_kind {
  const graph_node* node = nullptr;
};

// A task of a graph, from its making until it has run.
class graph_node : public task {
 public:
  graph_node(const graph_node&) = delete;
  graph_node& operator=(const graph_node&) = delete;

  identity node_id() const noexcept { return m_id; }
  const std::string& name() const noexcept { return m_name; }
  std::string text() const { return m_id.text(m_name); }
  event_state& output() const noexcept { return *m_output; }
  // "slot 1 waits for event 5 (a)", for the first that does; empty: none.
  std::string missing() const;

 protected:
  graph_node(graph& owner, std::string_view name, void (*free)(graph_node&) noexcept);
  ~graph_node() = default;

  void set_up_slots(graph_slot* slots, graph_slot** order, std::uint32_t count) noexcept;
  // When it has run: gives its blocks back, says so unless it has failed, and is gone.
  void end(reference<data_block> result, bool has_failed) noexcept;
  void fail(std::exception_ptr error) noexcept;

 private:
  friend class tasks::graph;

  void bind();
  void satisfied() noexcept;
  void eligible() noexcept;
  void acquire_from(std::uint32_t in_order) noexcept;
  void refuse(std::uint32_t held, const graph_slot& slot, data_block::answer result) noexcept;
  bool is_repeated(std::uint32_t in_order) const noexcept;
  void release_blocks(std::uint32_t held) noexcept;
  void leave() noexcept;
  void abandon_sources() noexcept;
  std::string text_of(const graph_slot& slot) const;

  graph& m_graph;
  const identity m_id = identity::next(identity::kind::task);
  const std::string m_name;
  void (*m_free)(graph_node&) noexcept;
  graph_task_kind m_kind;
  reference<event_state> m_output;
  std::int32_t m_worker = -1;  // a hint
  graph_slot* m_slots = nullptr;
  graph_slot** m_order = nullptr;  // those with blocks, by the blocks' identities, in which order they are acquired
  std::uint32_t m_count = 0;
  std::uint32_t m_blocks = 0;
  std::uint32_t m_next = 0;
  std::atomic<std::uint32_t> m_missing{1};
  // In the graph's list of those that have not ended.
  graph_node* m_previous_node = nullptr;
  graph_node* m_next_node = nullptr;
};

}  // namespace detail
}  // namespace trimtab::tasks

// A slot of a graph that another locality satisfies: an event of a graph of this locality (graph.hpp), and a handle to it
// that can be sent.
//
//   here:   remote_slot<double> slot(job, graph, "halo");
//           graph.task("step", [](std::span<const double> halo) { ... }, read_only(slot.event()));
//           trimtab::post(neighbour, send_halo, slot.handle());
//           slot.satisfied().get();                    // graph.wait() would report a task whose slot is not satisfied yet
//           graph.wait();
//   there:  handle.satisfy(values);
//
// The graph is not distributed: tasks and blocks stay where they are, and a block's content is copied into a new block here.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"
#include "trimtab/tasks/graph/graph.hpp"

namespace trimtab::parcels {

namespace detail {

// value: of the block that it brings; void: none.
template <class value>
class event_object final : public global_object, public std::enable_shared_from_this<event_object<value>> {
 public:
  using content = std::conditional_t<std::is_void_v<value>, std::monostate, std::vector<value>>;

  event_object(object_table& table, tasks::graph& owner, std::string_view name)
      : m_table(table), m_graph(&owner), m_event(owner.make_event<value>(name)), m_later(m_satisfied.get_future().share()) {}

  const tasks::event<value>& event() const noexcept { return m_event; }
  tasks::shared_future<void> satisfied() const noexcept { return m_later; }

  // By a task: it may copy much, and recorded runs name the task that has satisfied an event.
  void satisfy(answer<void>& reply, content values) {
    queue_task(m_table.home(),
               [self = this->shared_from_this(), reply = std::move(reply), values = std::move(values)]() mutable noexcept {
                 reply.attempt([&] {
                   self->satisfy_event(values);
                   reply.give();
                 });
               });
  }
  void on_removed() noexcept override {
    const std::lock_guard guard(m_lock);
    m_graph = nullptr;
  }

 private:
  // Throws graph_error if it was satisfied before.
  void satisfy_event(const content& values) {
    {
      // The graph is there while the object is in the table: on_removed waits for this lock.
      const std::lock_guard guard(m_lock);
      if (m_graph == nullptr) throw no_such_object("trimtab: the graph whose event was to be satisfied is gone");
      if constexpr (std::is_void_v<value>) {
        m_event.satisfy();
      } else {
        const tasks::block<value> copy = m_graph->template make_block<value>(values.size());
        std::copy(values.begin(), values.end(), copy.values().begin());
        m_event.satisfy(copy);
      }
    }
    // Once: a second time has thrown.
    m_satisfied.set_value();
  }

  object_table& m_table;
  base::spin_lock m_lock;
  tasks::graph* m_graph;
  tasks::event<value> m_event;
  tasks::promise<void> m_satisfied;
  tasks::shared_future<void> m_later;
};

}  // namespace detail

// The end that is sent.
template <class value = void>
class remote_event : public object_handle {
  using object = detail::event_object<value>;

 public:
  remote_event() = default;
  // Ready when the slots that are bound to the event have what they wait for. Throws graph_error if it was satisfied before,
  // and no_such_object if the slot is gone.
  tasks::future<void> satisfy() const
    requires(std::is_void_v<value>)
  {
    return call<&object::satisfy>(std::monostate());
  }
  template <class element>
    requires(std::is_same_v<element, value>)
  tasks::future<void> satisfy(std::vector<element> values) const {
    return call<&object::satisfy>(std::move(values));
  }

 private:
  template <class>
  friend class remote_slot;
  using object_handle::object_handle;
};

// The end in the graph. Destroyed before the graph; from then on the handle names nothing.
template <class value = void>
class remote_slot {
  using object = detail::event_object<value>;

 public:
  remote_slot(job& owner, tasks::graph& home, std::string_view name = {})
      : m_table(owner.objects()),
        m_object(std::make_shared<object>(owner.objects(), home, name)),
        m_id(m_table.add(m_object)) {}
  ~remote_slot() {
    try {
      m_table.remove(m_id);
    } catch (const no_such_object&) {
      // Somebody has destroyed it by its handle, or the job has ended.
    }
  }
  remote_slot(const remote_slot&) = delete;
  remote_slot& operator=(const remote_slot&) = delete;

  const tasks::event<value>& event() const noexcept { return m_object->event(); }
  remote_event<value> handle() const { return remote_event<value>(m_table, m_id); }
  // Ready when the event has been satisfied through a handle. Broken (std::future_error) if that never happens.
  tasks::shared_future<void> satisfied() const noexcept { return m_object->satisfied(); }

 private:
  object_table& m_table;
  std::shared_ptr<object> m_object;
  global_id m_id;
};

}  // namespace trimtab::parcels

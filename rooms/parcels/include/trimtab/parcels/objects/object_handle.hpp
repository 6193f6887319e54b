// What handles to objects have in common: a small value that can be copied, sent and received. Valid while its job is there.
//
// Handles that are arguments or results of actions belong to the job that has received them. Those that are read elsewhere
// belong to the job of the running task, or to the newest one; a program has one job only, except in tests.
#pragma once

#include <stdexcept>

#include "trimtab/parcels/objects/locality_object.hpp"
#include "trimtab/parcels/objects/object_call.hpp"

namespace trimtab::parcels {

class object_handle {
 public:
  object_handle() = default;

  const global_id& id() const noexcept { return m_id; }
  bool is_empty() const noexcept { return m_id.is_empty(); }
  bool operator==(const object_handle& other) const noexcept { return m_id == other.m_id; }

  // The object is gone for all localities when the future is ready. What waits for it gets no_such_object, as does who uses
  // it from now on.
  tasks::future<void> destroy() const {
    return object_call<&locality_object::remove>::call(table(), object_table::own_object_of(m_id.home), m_id);
  }

  // The job that it belongs to.
  void bind(object_table& table) noexcept { m_table = &table; }

  template <class archive>
  void serialize(archive& ar) {
    ar(m_id);
    if constexpr (!archive::writes) m_table = object_table::of_receive_loop();
  }

 protected:
  object_handle(object_table& table, const global_id& id) noexcept : m_id(id), m_table(&table) {}

  object_table& table() const {
    if (m_id.is_empty()) throw std::logic_error("trimtab: a handle was used that names no object: create the object first");
    return m_table != nullptr ? *m_table : object_table::current();
  }
  // A request to the object.
  template <auto method, class... values>
  auto call(values&&... inputs) const {
    return object_call<method>::call(table(), m_id, std::forward<values>(inputs)...);
  }
  template <auto method, class... values>
  void post(values&&... inputs) const {
    object_call<method>::post(table(), m_id, std::forward<values>(inputs)...);
  }

 private:
  global_id m_id;
  object_table* m_table = nullptr;  // nullptr: of the current job
};

}  // namespace trimtab::parcels

#include "trimtab/parcels/objects/object_table.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include "trimtab/parcels/archive/exceptions.hpp"
#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/parcels/objects/locality_object.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/graph/graph_node.hpp"

namespace trimtab::parcels {

namespace {

base::spin_lock open_tables_lock;
std::vector<object_table*>& open_tables() {
  static std::vector<object_table*>& tables = *new std::vector<object_table*>;  // never destroyed, as the jobs' list
  return tables;
}

thread_local object_table* table_of_receive_loop = nullptr;

void register_object_errors() {
  static std::once_flag is_registered;
  std::call_once(is_registered, [] {
    register_exception<no_such_object>();
    register_exception<channel_closed>();
    register_exception<name_error>();
    register_exception<locality_lost>();
    register_exception<tasks::graph_error>();
  });
}

std::string text_of_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

object_table::object_table(tasks::runtime& home, dispatcher* messages) : m_home(home), m_messages(messages) {
  register_object_errors();
  m_slots.push_back({std::make_shared<locality_object>(*this), 1});
  const std::lock_guard guard(open_tables_lock);
  open_tables().push_back(this);
}

// Not inlined: a task may go on in another thread.
[[gnu::noinline]] object_table* object_table::of_receive_loop() noexcept { return table_of_receive_loop; }

[[gnu::noinline]] receive_scope::receive_scope(object_table* table) noexcept
    : m_outer(std::exchange(table_of_receive_loop, table)) {}

[[gnu::noinline]] receive_scope::~receive_scope() { table_of_receive_loop = m_outer; }

object_table& object_table::current() {
  if (object_table* const table = of_receive_loop()) return *table;
  tasks::worker* const this_worker = tasks::worker::current();
  const std::lock_guard guard(open_tables_lock);
  const auto& tables = open_tables();
  if (tables.empty()) throw std::logic_error("trimtab: an object of a job was used, but there is no job");
  const auto table_of_task = std::find_if(tables.rbegin(), tables.rend(), [&](const object_table* table) {
    return this_worker != nullptr && &table->home() == &this_worker->owner();
  });
  return table_of_task != tables.rend() ? **table_of_task : *tables.back();
}

locality_number object_table::number() const noexcept { return m_messages != nullptr ? m_messages->number() : 0; }

std::uint32_t object_table::size() const noexcept { return m_messages != nullptr ? m_messages->size() : 1; }

global_id object_table::add(std::shared_ptr<global_object> object) {
  const std::lock_guard guard(m_lock);
  if (m_is_closed) throw std::logic_error("trimtab: an object was created in a job that has ended");
  if (m_free.empty()) {
    m_free.push_back(m_slots.size());
    m_slots.emplace_back();
  }
  const std::uint64_t number_of_object = m_free.back();
  m_free.pop_back();
  slot& used = m_slots[number_of_object];
  used.object = std::move(object);
  return {number(), used.generation, number_of_object};
}

std::shared_ptr<global_object> object_table::find_any(const global_id& id) const {
  const std::lock_guard guard(m_lock);
  if (id.home != number() || id.number >= m_slots.size()) return nullptr;
  const slot& named = m_slots[id.number];
  return named.generation == id.generation ? named.object : nullptr;
}

void object_table::fail_unknown(const global_id& id) const {
  throw no_such_object("trimtab: locality " + std::to_string(number()) + " has no " + to_string(id) +
                       " of the expected type: it was destroyed, or its job has ended");
}

void object_table::remove(const global_id& id) {
  std::shared_ptr<global_object> removed;
  {
    const std::lock_guard guard(m_lock);
    if (id.home == number() && id.number < m_slots.size() && id.number != own_number) {
      slot& named = m_slots[id.number];
      if (named.generation == id.generation) removed = std::move(named.object);
    }
    if (removed != nullptr) {
      m_slots[id.number].generation += 1;
      m_free.push_back(id.number);
    }
  }
  if (removed == nullptr) fail_unknown(id);
  removed->on_removed();
}

void object_table::keep(const global_id& id, std::shared_ptr<const void> data) {
  const std::lock_guard guard(m_lock);
  m_kept[id] = std::move(data);
}

std::shared_ptr<const void> object_table::kept(const global_id& id) const {
  const std::lock_guard guard(m_lock);
  const auto position = m_kept.find(id);
  return position != m_kept.end() ? position->second : nullptr;
}

void object_table::drop(const global_id& id) noexcept {
  std::shared_ptr<const void> dropped;  // destroyed after the lock
  const std::lock_guard guard(m_lock);
  const auto position = m_kept.find(id);
  if (position == m_kept.end()) return;
  dropped = std::move(position->second);
  m_kept.erase(position);
}

std::size_t object_table::kept_count() const noexcept {
  const std::lock_guard guard(m_lock);
  return m_kept.size();
}

std::vector<std::shared_ptr<global_object>> object_table::all_objects() const {
  std::vector<std::shared_ptr<global_object>> objects;
  const std::lock_guard guard(m_lock);
  for (const slot& used : m_slots)
    if (used.object != nullptr) objects.push_back(used.object);
  return objects;
}

void object_table::note_gone(locality_number which, const std::exception_ptr& error) noexcept {
  const receive_scope scope(this);
  {
    const std::lock_guard guard(m_lock);
    m_losses[which] = error;
  }
  for (const auto& object : all_objects()) object->on_gone(which, error);
}

std::exception_ptr object_table::loss_of(locality_number which) const {
  const std::lock_guard guard(m_lock);
  const auto position = m_losses.find(which);
  return position != m_losses.end() ? position->second : nullptr;
}

void object_table::note_failed_post(locality_number from, const std::exception_ptr& error) noexcept {
  if (m_failed_posts.fetch_add(1, std::memory_order_relaxed) != 0) return;
  std::fprintf(stderr,
               "trimtab: locality %u: a request of locality %u to an object failed, and nobody waits for its result: %s. "
               "Later ones are counted only.\n",
               number(), from, text_of_error(error).c_str());
}

void object_table::close() noexcept {
  {
    const std::lock_guard guard(open_tables_lock);
    std::erase(open_tables(), this);
  }
  std::vector<slot> slots;
  std::unordered_map<global_id, std::shared_ptr<const void>> data;
  {
    const std::lock_guard guard(m_lock);
    m_is_closed = true;
    slots.swap(m_slots);
    data.swap(m_kept);
  }
  // Outside the lock: answers that they still owe are given now.
}

}  // namespace trimtab::parcels

// The objects of one locality that others can reach, by number. One for each job. Any thread may call anything.
//
// Who uses an object holds a reference to it (shared_ptr). So an object that is removed while parcels for it arrive lives
// until the last of them has been handled; parcels that come later find nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/objects/global_id.hpp"
#include "trimtab/parcels/objects/object_errors.hpp"

namespace trimtab::tasks {
class runtime;
}

namespace trimtab::parcels {

class dispatcher;

// What a table has. Its functions are called by parcels in the receive loop and by threads of this locality, at the same
// time.
class global_object {
 public:
  virtual ~global_object() = default;
  // It is no longer in the table. Who still holds a reference may call it.
  virtual void on_removed() noexcept {}
  // Another locality will send nothing more.
  virtual void on_gone(locality_number, const std::exception_ptr&) noexcept {}
};

class object_table : public std::enable_shared_from_this<object_table> {
 public:
  // messages: nullptr for a job of one locality.
  object_table(tasks::runtime& home, dispatcher* messages);
  ~object_table() { close(); }
  object_table(const object_table&) = delete;
  object_table& operator=(const object_table&) = delete;

  // For handles without a job: of the job whose parcel is being handled by this thread, else of the job that the running
  // task belongs to, else of the job that was created last. Throws std::logic_error if there is no job.
  static object_table& current();
  // Of the job whose parcel is being handled by this thread; nullptr: none is.
  static object_table* of_receive_loop() noexcept;

  tasks::runtime& home() const noexcept { return m_home; }
  dispatcher* messages() const noexcept { return m_messages; }
  locality_number number() const noexcept;
  std::uint32_t size() const noexcept;

  global_id add(std::shared_ptr<global_object> object);
  // Throws no_such_object.
  template <class object>
  std::shared_ptr<object> find(const global_id& id) const {
    if (std::shared_ptr<object> result = std::dynamic_pointer_cast<object>(find_any(id))) return result;
    fail_unknown(id);
  }
  // Throws no_such_object.
  void remove(const global_id& id);

  // Data of this locality, or that has moved here: by the name of their object, whose home may be another locality.
  void keep(const global_id& id, std::shared_ptr<const void> data);
  std::shared_ptr<const void> kept(const global_id& id) const;  // nullptr: it is not here
  void drop(const global_id& id) noexcept;
  std::size_t kept_count() const noexcept;

  // A locality will send nothing more: all objects are told.
  void note_gone(locality_number which, const std::exception_ptr& error) noexcept;
  // Why nothing can be expected from there; nullptr: it is still there.
  std::exception_ptr loss_of(locality_number which) const;
  // A request that nobody awaits has failed: counted, and the first one is reported.
  void note_failed_post(locality_number from, const std::exception_ptr& error) noexcept;
  std::uint64_t failed_posts() const noexcept { return m_failed_posts.load(std::memory_order_relaxed); }
  // The job ends: all objects are removed, and nothing can be added.
  void close() noexcept;

  // The number of the object of each locality that stands for the locality itself: locality_object.
  static constexpr std::uint64_t own_number = 0;
  static global_id own_object_of(locality_number which) noexcept { return {which, 1, own_number}; }

 private:
  struct slot {
    std::shared_ptr<global_object> object;
    std::uint32_t generation = 1;
  };

  std::shared_ptr<global_object> find_any(const global_id& id) const;
  [[noreturn]] void fail_unknown(const global_id& id) const;
  std::vector<std::shared_ptr<global_object>> all_objects() const;

  tasks::runtime& m_home;
  dispatcher* const m_messages;
  mutable base::spin_lock m_lock;  // of all below that is not atomic
  bool m_is_closed = false;
  std::vector<slot> m_slots;
  std::vector<std::uint64_t> m_free;
  std::unordered_map<global_id, std::shared_ptr<const void>> m_kept;
  std::map<locality_number, std::exception_ptr> m_losses;
  std::atomic<std::uint64_t> m_failed_posts{0};
};

// While a parcel is handled: handles that are read from it belong to this table, and answers do not wait for room.
class receive_scope {
 public:
  explicit receive_scope(object_table* table) noexcept;
  ~receive_scope();
  receive_scope(const receive_scope&) = delete;
  receive_scope& operator=(const receive_scope&) = delete;

 private:
  object_table* const m_outer;
};

}  // namespace trimtab::parcels

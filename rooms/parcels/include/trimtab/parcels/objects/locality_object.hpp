// The object of each locality that stands for the locality itself: removes objects, keeps names and data that have moved
// here, and remembers what went wrong with puts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/objects/answer.hpp"
#include "trimtab/parcels/objects/object_table.hpp"

namespace trimtab::parcels {

class locality_object final : public global_object {
 public:
  using bytes = std::vector<std::byte>;

  explicit locality_object(object_table& table) noexcept : m_table(table) {}
  object_table& table() const noexcept { return m_table; }

  void remove(answer<void>& reply, const global_id& id) {
    m_table.remove(id);
    reply.give();
  }

  // Names. handle: its bytes; signature: of its type.
  void register_name(answer<void>& reply, const std::string& name, std::uint64_t signature, const bytes& handle);
  // Answered when there is one.
  void find_name(answer<bytes>& reply, const std::string& name, std::uint64_t signature);
  void forget_name(answer<void>& reply, const std::string& name);

  // Data whose home may be elsewhere: see global_data.hpp.
  template <class value>
  void read_data(answer<value>& reply, const global_id& id);
  template <class value>
  void pull_data(answer<void>& reply, const global_id& id, locality_number owner);
  void drop_data(answer<void>& reply, const global_id& id) {
    m_table.drop(id);
    reply.give();
  }

  // The first error of a locality's puts since its last flush.
  void note_put_error(locality_number from, const std::exception_ptr& error) noexcept;
  void flush_puts(answer<void>& reply);

 private:
  struct registered {
    std::uint64_t signature;
    bytes handle;
  };
  struct seeker {
    std::uint64_t signature;
    answer<bytes> reply;
  };

  object_table& m_table;
  base::spin_lock m_lock;  // of what follows
  std::map<std::string, registered> m_names;
  std::multimap<std::string, seeker> m_seekers;
  std::map<locality_number, std::exception_ptr> m_put_errors;
};

}  // namespace trimtab::parcels

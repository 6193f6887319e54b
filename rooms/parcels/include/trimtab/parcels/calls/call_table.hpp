// Calls of this locality whose results have not come yet, by number. Any thread may call anything.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

class reader;

// Where a result goes. Owned by the table until it is taken out.
class awaited_result {
 public:
  // Exactly one of the two, once; it deletes itself. set_result: reads the value, or fails itself if the bytes are not one.
  virtual void set_result(reader& bytes) noexcept = 0;
  virtual void fail(std::exception_ptr error) noexcept = 0;

 protected:
  ~awaited_result() = default;
};

class call_table {
 public:
  // The number of the call, never 0 and different for all that are in the table.
  std::uint64_t add(locality_number called, awaited_result& result);
  // nullptr: there is no such call to that locality.
  awaited_result* take(std::uint64_t number, locality_number called) noexcept;
  // All calls to a locality.
  std::vector<awaited_result*> take_all(locality_number called);
  std::uint64_t size() const noexcept;

 private:
  struct slot {
    awaited_result* result = nullptr;
    locality_number called = 0;
    std::uint32_t round = 1;      // how often the slot was used: an old number does not fit a new call
    std::uint32_t next_free = 0;  // position + 1
  };

  mutable base::spin_lock m_lock;
  std::vector<slot> m_slots;
  std::uint32_t m_first_free = 0;  // position + 1; 0: none
  std::uint64_t m_size = 0;
};

}  // namespace trimtab::parcels

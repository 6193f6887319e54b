// Messages that are awaited by name: each has a sender and a tag. What collective operations are made of. Any thread may
// call anything.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::parcels {

using letter = std::vector<std::byte>;

class mailbox {
 public:
  // The next letter with this tag from that locality. Several of the same name come in the order of their sending.
  tasks::future<letter> await(locality_number from, std::uint64_t tag);
  void deliver(locality_number from, std::uint64_t tag, bytes_view content);
  // No letter will come from there: who waits gets the error, now and later.
  void fail(locality_number from, const std::exception_ptr& error);

 private:
  struct name {
    locality_number from;
    std::uint64_t tag;
    auto operator<=>(const name&) const = default;
  };
  struct box {
    std::vector<letter> letters;  // that nobody has asked for yet
    std::vector<tasks::promise<letter>> waiting;
  };

  base::spin_lock m_lock;
  std::map<name, box> m_boxes;
  std::map<locality_number, std::exception_ptr> m_errors;
};

}  // namespace trimtab::parcels

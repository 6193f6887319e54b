#include "trimtab/parcels/objects/remote_latch.hpp"

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace trimtab::parcels::detail {

std::vector<answer<void>> latch_object::count(std::uint64_t count) {
  const std::lock_guard guard(m_lock);
  if (count > m_left)
    throw std::logic_error("trimtab: a remote latch was counted down by " + std::to_string(count) + ", but only " +
                           std::to_string(m_left) + " were left");
  m_left -= count;
  return m_left == 0 ? std::exchange(m_waiting, {}) : std::vector<answer<void>>();
}

void latch_object::count_down(answer<void>& reply, std::uint64_t count_by) {
  for (answer<void>& waiting : count(count_by)) waiting.give();
  reply.give();
}

void latch_object::wait(answer<void>& reply) {
  {
    const std::lock_guard guard(m_lock);
    if (m_left != 0) {
      m_waiting.push_back(std::move(reply));
      return;
    }
  }
  reply.give();
}

void latch_object::arrive_and_wait(answer<void>& reply, std::uint64_t count_by) {
  std::vector<answer<void>> opened = count(count_by);
  wait(reply);
  for (answer<void>& waiting : opened) waiting.give();
}

}  // namespace trimtab::parcels::detail

#include "trimtab/parcels/calls/call_table.hpp"

#include <mutex>

namespace trimtab::parcels {

std::uint64_t call_table::add(locality_number called, awaited_result& result) {
  const std::lock_guard guard(m_lock);
  if (m_first_free == 0) {
    m_slots.emplace_back();
    m_first_free = static_cast<std::uint32_t>(m_slots.size());
  }
  const std::uint32_t position = m_first_free - 1;
  slot& used = m_slots[position];
  m_first_free = used.next_free;
  used.result = &result;
  used.called = called;
  m_size += 1;
  return std::uint64_t{used.round} << 32 | position;
}

awaited_result* call_table::take(std::uint64_t number, locality_number called) noexcept {
  const auto position = static_cast<std::uint32_t>(number);
  const auto round = static_cast<std::uint32_t>(number >> 32);
  const std::lock_guard guard(m_lock);
  if (position >= m_slots.size()) return nullptr;
  slot& used = m_slots[position];
  if (used.result == nullptr || used.round != round || used.called != called) return nullptr;
  awaited_result* const result = used.result;
  used.result = nullptr;
  used.round += 1;
  used.next_free = m_first_free;
  m_first_free = position + 1;
  m_size -= 1;
  return result;
}

std::vector<awaited_result*> call_table::take_all(locality_number called) {
  std::vector<std::uint64_t> numbers;
  {
    const std::lock_guard guard(m_lock);
    for (std::size_t i = 0; i < m_slots.size(); ++i)
      if (m_slots[i].result != nullptr && m_slots[i].called == called)
        numbers.push_back(std::uint64_t{m_slots[i].round} << 32 | i);
  }
  std::vector<awaited_result*> results;
  for (const std::uint64_t number : numbers)
    if (awaited_result* const result = take(number, called)) results.push_back(result);
  return results;
}

std::uint64_t call_table::size() const noexcept {
  const std::lock_guard guard(m_lock);
  return m_size;
}

}  // namespace trimtab::parcels

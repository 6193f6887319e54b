#include "trimtab/observe/subject_table.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "trimtab/base/hash.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::observe {

// The key's slot, or the empty one that it would take.
subject_table::slot& subject_table::place_of(const table& in, std::uint64_t key) noexcept {
  for (std::uint64_t i = base::mix_fast(key);; ++i) {
    slot& candidate = in.slots[i & in.mask];
    const std::uint64_t held = candidate.key.load(std::memory_order_acquire);  // pairs with add
    if (held == key || held == 0) return candidate;
  }
}

std::uint32_t subject_table::find(std::uint64_t key) const noexcept {
  const slot& place = place_of(*m_current.load(std::memory_order_acquire), key);  // pairs with grow
  return place.key.load(std::memory_order_relaxed) == key ? place.number.load(std::memory_order_relaxed) : absent;
}

void subject_table::add(std::uint64_t key, std::uint32_t number) noexcept {
  slot& place = place_of(*m_current.load(std::memory_order_relaxed), key);
  place.number.store(number, std::memory_order_relaxed);
  place.key.store(key, std::memory_order_release);  // the number before the key: pairs with place_of
  m_keys += 1;
}

int subject_table::reserve(std::uint64_t more_keys) noexcept {
  const std::uint64_t slots = m_current.load(std::memory_order_relaxed)->mask + 1;
  return m_keys + more_keys <= slots / 2 ? 0 : grow();
}

int subject_table::grow() noexcept {
  if (m_last_table + 1 == most_tables) return E2BIG;
  if (!base::may_call_system()) return EPERM;
  const table& old = m_tables[m_last_table];
  table& next = m_tables[m_last_table + 1];
  const std::uint64_t slots = (old.mask + 1) * growth;
  void* const memory = mmap(nullptr, slots * sizeof(slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  next = {slots - 1, static_cast<slot*>(memory)};
  m_keys = 0;
  for (std::uint64_t i = 0; i <= old.mask; ++i) {
    const std::uint64_t key = old.slots[i].key.load(std::memory_order_relaxed);
    if (key == 0 || key == forgotten_key) continue;
    slot& place = place_of(next, key);
    place.number.store(old.slots[i].number.load(std::memory_order_relaxed), std::memory_order_relaxed);
    place.key.store(key, std::memory_order_relaxed);
    m_keys += 1;
  }
  m_last_table += 1;
  m_current.store(&next, std::memory_order_release);  // pairs with find: the slots before the table
  return 0;
}

void subject_table::clear() noexcept {
  const table& current = *m_current.load(std::memory_order_relaxed);
  for (std::uint64_t i = 0; i <= current.mask; ++i) {
    if (current.slots[i].key.load(std::memory_order_relaxed) == 0) continue;
    current.slots[i].key.store(0, std::memory_order_relaxed);
    current.slots[i].number.store(0, std::memory_order_relaxed);
  }
  m_keys = 0;
}

}  // namespace trimtab::observe

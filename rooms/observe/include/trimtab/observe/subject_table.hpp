// Numbers of subjects by key: open addressing, half empty at least. Lookups take no lock and may be made by any thread;
// the other calls are made under the owner's lock. Grows to a table of four times the slots; a smaller one stays, since a
// lookup may be in it, so a third of the memory at most is no longer used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trimtab::observe {

class subject_table {
 public:
  static constexpr std::uint32_t absent = 0xffffffffu;

  // The number of `key` (not 0), or absent.
  std::uint32_t find(std::uint64_t key) const noexcept;

  // Makes room for that many more keys. 0 or an errno; E2BIG: they would be more than most_keys.
  int reserve(std::uint64_t more_keys) noexcept;
  // Needs room. The key must be absent.
  void add(std::uint64_t key, std::uint32_t number) noexcept;
  // Replaces each key for which `is_gone` holds by one that is never looked up.
  template <class predicate>
  void forget(predicate is_forgotten) noexcept {
    const table& current = *m_current.load(std::memory_order_relaxed);
    for (std::uint64_t i = 0; i <= current.mask; ++i) {
      std::atomic<std::uint64_t>& key = current.slots[i].key;
      if (const std::uint64_t held = key.load(std::memory_order_relaxed); held != 0 && is_forgotten(held))
        key.store(forgotten_key, std::memory_order_release);
    }
  }
  // In a forked child, where nobody looks anything up.
  void clear() noexcept;

  static constexpr std::uint64_t most_keys = std::uint64_t{1} << 21;

 private:
  struct slot {
    std::atomic<std::uint64_t> key{0};
    std::atomic<std::uint32_t> number{0};
  };
  struct table {
    std::uint64_t mask = 0;
    slot* slots = nullptr;
  };
  static constexpr std::uint64_t first_slots = std::uint64_t{1} << 12;
  static constexpr std::uint64_t growth = 4;
  static constexpr std::size_t most_tables = 6;
  static_assert(first_slots << (2 * (most_tables - 1)) == 2 * most_keys);
  static constexpr std::uint64_t forgotten_key = 1;

  static slot& place_of(const table& in, std::uint64_t key) noexcept;
  int grow() noexcept;

  slot m_first[first_slots];
  table m_tables[most_tables] = {{first_slots - 1, m_first}};
  std::size_t m_last_table = 0;
  std::uint64_t m_keys = 0;  // slots in use, forgotten keys too
  std::atomic<const table*> m_current{m_tables};
};

}  // namespace trimtab::observe

// Sites by their keys: loops, or regions. Found without a lock, and only ever added: one that was found stays what it is.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

namespace trimtab::openmp {

// Zero bytes are right for every field of a site. is_its: whether that is the site of a key.
template <class site, std::uint32_t most>
class site_table {
 public:
  // Before any site is added. False: no memory.
  bool prepare() noexcept {
    if (m_sites != nullptr) return true;
    void* const memory =
        mmap(nullptr, most * sizeof(site), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    m_sites = static_cast<site*>(memory);
    return true;
  }
  bool has_room() const noexcept { return m_sites != nullptr && m_used.load(std::memory_order_relaxed) < most; }
  std::uint32_t size() const noexcept { return m_used.load(std::memory_order_acquire); }
  site& at(std::uint32_t index) noexcept { return m_sites[index]; }

  // nullptr: there is none.
  template <class predicate>
  site* find(std::uint64_t hash, predicate matches) noexcept {
    return slot_of(hash, matches).load(std::memory_order_acquire);
  }
  // By one thread at a time, when there is room and the key has no site. fill: sets the key, and what is known of it.
  template <class predicate, class setter>
  site* add(std::uint64_t hash, predicate matches, setter fill) noexcept {
    const std::uint32_t used = m_used.load(std::memory_order_relaxed);
    site& added = m_sites[used];
    fill(added);
    m_used.store(used + 1, std::memory_order_release);
    slot_of(hash, matches).store(&added, std::memory_order_release);
    return &added;
  }

 private:
  // The key's, or the free one where it belongs: most of the table stays free.
  template <class predicate>
  std::atomic<site*>& slot_of(std::uint64_t hash, predicate matches) noexcept {
    for (std::uint64_t at = hash;; ++at) {
      std::atomic<site*>& slot = m_slots[at % (4 * most)];
      const site* const current = slot.load(std::memory_order_acquire);
      if (current == nullptr || matches(*current)) return slot;
    }
  }

  site* m_sites = nullptr;
  std::atomic<std::uint32_t> m_used{0};
  std::atomic<site*> m_slots[4 * most] = {};
};

}  // namespace trimtab::openmp

// Subjects of the recorder that were asked for before, by a key, found without a lock. As many as there are places, roughly.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trimtab/base/hash.hpp"
#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::tasks::recording {

template <std::size_t places>
class known_subjects {
 public:
  // ask(): the subject of `key`, which is not 0; if_full() where there is no place for another one.
  template <class function, class other>
  std::uint32_t find(std::uint64_t key, function&& query, other&& if_full) noexcept {
    constexpr std::size_t looks = 8;
    const std::size_t first = base::mix_fast(key);
    for (std::size_t i = 0; i < looks; ++i) {
      entry& slot = m_entries[(first + i) % places];
      std::uint64_t stored_key = slot.key.load(std::memory_order_relaxed);
      if (stored_key == 0 && slot.key.compare_exchange_strong(stored_key, key, std::memory_order_relaxed)) stored_key = key;
      if (stored_key != key) continue;
      const std::uint64_t generation = detail::generation.load(std::memory_order_relaxed);
      const std::uint64_t cached = slot.cached.load(std::memory_order_relaxed);
      if (cached >> 32 == generation) [[likely]]
        return static_cast<std::uint32_t>(cached);
      const std::uint32_t subject = query();
      slot.cached.store(generation << 32 | subject, std::memory_order_relaxed);
      return subject;
    }
    return if_full();
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> key{0};
    std::atomic<std::uint64_t> cached{0};  // generation and subject
  };
  std::array<entry, places> m_entries{};
};

}  // namespace trimtab::tasks::recording

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
  std::uint32_t find(std::uint64_t key, function&& ask, other&& if_full) noexcept {
    constexpr std::size_t looks = 8;
    const std::size_t first = base::mix_fast(key);
    for (std::size_t i = 0; i < looks; ++i) {
      entry& each = m_entries[(first + i) % places];
      std::uint64_t found = each.key.load(std::memory_order_relaxed);
      if (found == 0 && each.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
      if (found != key) continue;
      const std::uint64_t generation = detail::generation.load(std::memory_order_relaxed);
      const std::uint64_t known = each.known.load(std::memory_order_relaxed);
      if (known >> 32 == generation) [[likely]]
        return static_cast<std::uint32_t>(known);
      const std::uint32_t subject = ask();
      each.known.store(generation << 32 | subject, std::memory_order_relaxed);
      return subject;
    }
    return if_full();
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> key{0};
    std::atomic<std::uint64_t> known{0};  // generation and subject
  };
  std::array<entry, places> m_entries{};
};

}  // namespace trimtab::tasks::recording

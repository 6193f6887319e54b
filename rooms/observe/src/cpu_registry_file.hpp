// The bytes of the registry of processes that fit their threads. Of this machine's own format: no other reads them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/hash.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::observe::registry_file {

inline constexpr std::uint32_t version = 1;

struct head {
  char magic[8] = {'t', 't', '-', 'c', 'p', 'u', 's', 0};
  std::uint32_t format = version;
  std::uint32_t head_bytes = 64;
  std::uint32_t record_bytes = 128;
  std::uint32_t records = cpu_registry::most_members;
  std::uint64_t reserved[5] = {};
  bool operator==(const head&) const = default;
};
static_assert(sizeof(head) == 64);

// pid 0: free.
struct record {
  std::uint32_t pid = 0;
  std::uint32_t pid_namespace = 0;
  std::uint64_t start = 0;
  std::uint64_t beat_ns = 0;
  std::uint32_t wanted = 0;
  std::uint32_t used_milli = 0;
  cpu_fold allowed{};
  std::uint64_t reserved[7] = {};
  std::uint64_t sum = 0;  // of all before it: a record read while it is written, or of something else, does not have it
};
static_assert(sizeof(record) == 128);

inline constexpr std::size_t bytes = sizeof(head) + cpu_registry::most_members * sizeof(record);

inline std::uint64_t sum_of(const record& entry) noexcept {
  std::uint64_t sum = version;
  for (const std::uint64_t word : {std::uint64_t{entry.pid} << 32 | entry.pid_namespace, entry.start, entry.beat_ns,
                                   std::uint64_t{entry.wanted} << 32 | entry.used_milli, entry.allowed[0], entry.allowed[1],
                                   entry.allowed[2], entry.allowed[3]})
    sum = base::mix(sum ^ word);
  return sum;
}

inline constexpr std::uint32_t most_threads = 1 << 16;
inline bool is_sound(const record& entry) noexcept {
  return entry.pid > 0 && entry.sum == sum_of(entry) && entry.wanted >= 1 && entry.wanted <= most_threads &&
         entry.used_milli <= most_threads * 1000;
}

inline std::size_t offset_of(std::size_t place) noexcept { return sizeof(head) + place * sizeof(record); }

}  // namespace trimtab::observe::registry_file

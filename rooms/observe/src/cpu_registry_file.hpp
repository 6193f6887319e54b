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

inline std::uint64_t sum_of(const record& its) noexcept {
  std::uint64_t sum = version;
  for (const std::uint64_t word :
       {std::uint64_t{its.pid} << 32 | its.pid_namespace, its.start, its.beat_ns,
        std::uint64_t{its.wanted} << 32 | its.used_milli, its.allowed[0], its.allowed[1], its.allowed[2], its.allowed[3]})
    sum = base::mix(sum ^ word);
  return sum;
}

inline constexpr std::uint32_t most_threads = 1 << 16;
inline bool is_sound(const record& its) noexcept {
  return its.pid > 0 && its.sum == sum_of(its) && its.wanted >= 1 && its.wanted <= most_threads &&
         its.used_milli <= most_threads * 1000;
}

inline std::size_t offset_of(std::size_t place) noexcept { return sizeof(head) + place * sizeof(record); }

}  // namespace trimtab::observe::registry_file

// How long something took, many times: count, sum, greatest, and percentiles that are at most 1/32 too large.
#pragma once

#include <array>
#include <cstdint>

namespace trimtab::kernel {

class delay_histogram {
 public:
  void add(std::uint64_t ns) noexcept;
  void add(const delay_histogram& other) noexcept;
  std::uint64_t count() const noexcept { return m_count; }
  std::uint64_t sum_ns() const noexcept { return m_sum_ns; }
  std::uint64_t greatest_ns() const noexcept { return m_greatest_ns; }
  // What `share` (0 to 1) of the delays do not exceed, up to the width of a bucket; 0: there are none.
  std::uint64_t percentile_ns(double share) const noexcept;

 private:
  // Each power of two is divided into so many buckets; below that, each number has its own.
  static constexpr std::uint32_t parts_bits = 5, parts = 1u << parts_bits;
  static constexpr std::uint32_t buckets = (64 - parts_bits + 1) * parts;
  static std::uint32_t bucket_of(std::uint64_t ns) noexcept;
  static std::uint64_t last_of(std::uint32_t bucket) noexcept;

  std::uint64_t m_count = 0, m_sum_ns = 0, m_greatest_ns = 0;
  std::array<std::uint32_t, buckets> m_counts{};
};

}  // namespace trimtab::kernel

// How long something took, many times: count, sum, greatest, and percentiles that are at most 1/32 too large. Needs memory
// only for the powers of two that occur.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::kernel {

class delay_histogram {
 public:
  void add(std::uint64_t ns);
  void add(const delay_histogram& other);
  std::uint64_t count() const noexcept { return m_count; }
  std::uint64_t sum_ns() const noexcept { return m_sum_ns; }
  std::uint64_t greatest_ns() const noexcept { return m_greatest_ns; }
  // What `share` (0 to 1) of the delays do not exceed, up to the width of a bucket; 0: there are none.
  std::uint64_t percentile_ns(double share) const noexcept;
  // Calls take(longest_ns, count) for each bucket with delays, shortest first: none of them is longer than longest_ns.
  template <class function>
  void for_each(function&& take) const;

 private:
  // Each power of two is divided into so many buckets; below that, each number has its own.
  static constexpr std::uint32_t parts_bits = 5, parts = 1u << parts_bits;
  struct bucket_count {
    std::uint32_t bucket;
    std::uint64_t count;
  };
  static std::uint32_t bucket_of(std::uint64_t ns) noexcept;
  static std::uint64_t last_of(std::uint32_t bucket) noexcept;
  void add(std::uint32_t bucket, std::uint64_t count);

  std::uint64_t m_count = 0, m_sum_ns = 0, m_greatest_ns = 0;
  std::vector<bucket_count> m_counts;  // by bucket
};

template <class function>
void delay_histogram::for_each(function&& take) const {
  for (const bucket_count& one : m_counts) take(last_of(one.bucket), one.count);
}

}  // namespace trimtab::kernel

#include "trimtab/kernel/delay_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trimtab::kernel {

std::uint32_t delay_histogram::bucket_of(std::uint64_t ns) noexcept {
  if (ns < parts) return static_cast<std::uint32_t>(ns);
  const auto power = static_cast<std::uint32_t>(std::bit_width(ns)) - 1;
  const auto part = static_cast<std::uint32_t>(ns >> (power - parts_bits)) - parts;
  return (power - parts_bits + 1) * parts + part;
}

std::uint64_t delay_histogram::last_of(std::uint32_t bucket) noexcept {
  if (bucket < parts) return bucket;
  const std::uint32_t shift = bucket / parts - 1;
  const std::uint64_t first = std::uint64_t{parts + bucket % parts} << shift;
  return first + ((std::uint64_t{1} << shift) - 1);
}

void delay_histogram::add(std::uint32_t bucket, std::uint64_t count) {
  const auto found = std::ranges::lower_bound(m_counts, bucket, {}, &bucket_count::bucket);
  if (found != m_counts.end() && found->bucket == bucket)
    found->count += count;
  else
    m_counts.insert(found, {bucket, count});
}

void delay_histogram::add(std::uint64_t ns) {
  add(bucket_of(ns), 1);
  ++m_count;
  m_sum_ns += ns;
  m_greatest_ns = std::max(m_greatest_ns, ns);
}

void delay_histogram::add(const delay_histogram& other) {
  for (const bucket_count& one : other.m_counts) add(one.bucket, one.count);
  m_count += other.m_count;
  m_sum_ns += other.m_sum_ns;
  m_greatest_ns = std::max(m_greatest_ns, other.m_greatest_ns);
}

std::uint64_t delay_histogram::percentile_ns(double share) const noexcept {
  const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(m_count));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t seen = 0, found = 0;
  for_each([&](std::uint64_t longest_ns, std::uint64_t count) {
    if (seen < rank) found = longest_ns;
    seen += count;
  });
  return std::min(found, m_greatest_ns);
}

}  // namespace trimtab::kernel

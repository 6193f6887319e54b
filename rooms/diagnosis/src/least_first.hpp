// A set of numbers. It gives back the smallest one first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

namespace trimtab::diagnosis {

// Of numbers below a limit: a bit for each, and a bit for each 64 of these, and so on.
class least_first {
 public:
  explicit least_first(std::size_t limit) {
    do {
      limit = std::max<std::size_t>((limit + 63) / 64, 1);
      m_levels.emplace_back(limit, 0);
    } while (limit > 1);
  }
  bool empty() const { return m_levels.back()[0] == 0; }
  void insert(std::size_t number) {
    for (std::vector<std::uint64_t>& level : m_levels) {
      level[number / 64] |= std::uint64_t{1} << number % 64;
      number /= 64;
    }
  }
  std::size_t take() {
    std::size_t number = 0;
    for (const std::vector<std::uint64_t>& level : std::views::reverse(m_levels))
      number = number * 64 + static_cast<std::size_t>(std::countr_zero(level[number]));
    std::size_t place = number;
    for (std::vector<std::uint64_t>& level : m_levels) {
      level[place / 64] &= ~(std::uint64_t{1} << place % 64);
      if (level[place / 64] != 0) break;
      place /= 64;
    }
    return number;
  }

 private:
  std::vector<std::vector<std::uint64_t>> m_levels;
};

}  // namespace trimtab::diagnosis

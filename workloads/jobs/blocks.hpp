// Blocks of words that localities send each other. Needs no Trimtab: the same program in plain MPI uses it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parts.hpp"

namespace workload {

// Which block: that of a round, from one locality to another.
struct block_key {
  std::uint64_t from, to, round;
};

// The words of a block follow from its first one. Cheap, so that most of the time goes into sending.
inline std::uint64_t first_word_of(block_key key) { return mixed((key.from << 48 | key.to << 32) + key.round * 1'000'003); }
inline std::uint64_t word_of(std::uint64_t first, std::uint64_t index) { return first + index * 0x9e3779b97f4a7c15u; }

inline void fill_block(block_key key, std::span<std::uint64_t> block) {
  const std::uint64_t first = first_word_of(key);
  for (std::size_t index = 0; index < block.size(); ++index) block[index] = word_of(first, index);
}

// How many words of the block are not what the sender must have sent.
inline std::uint64_t count_wrong(block_key key, std::span<const std::uint64_t> block) {
  const std::uint64_t first = first_word_of(key);
  std::uint64_t wrong = 0;
  for (std::size_t index = 0; index < block.size(); ++index) wrong += block[index] != word_of(first, index);
  return wrong;
}

}  // namespace workload

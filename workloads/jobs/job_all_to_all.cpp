// All to all: in each round, each locality sends a block to each other one, and waits until all have been taken.
#include <cstdint>
#include <utility>
#include <vector>

#include "job_program.hpp"

namespace {

std::uint64_t word_of(std::uint64_t from, std::uint64_t to, std::uint64_t round, std::uint64_t index) {
  return workload::mixed((from << 48 | to << 32) + round * 1'000'003 + index);
}

std::vector<std::uint64_t> block_of(std::uint64_t from, std::uint64_t to, std::uint64_t round, std::uint64_t words) {
  std::vector<std::uint64_t> block(words);
  for (std::uint64_t index = 0; index < words; ++index) block[index] = word_of(from, to, round, index);
  return block;
}

// How many words of the block are not what the sender must have sent.
std::uint64_t take_block(std::uint64_t from, std::uint64_t round, std::uint64_t words,
                         const std::vector<std::uint64_t>& block) {
  if (block.size() != words) return words + 1;
  const std::uint64_t own = trimtab::find_here().number();
  std::uint64_t wrong = 0;
  for (std::uint64_t index = 0; index < words; ++index) wrong += block[index] != word_of(from, own, round, index);
  return wrong;
}

std::uint64_t exchange_blocks(trimtab::job& job, std::uint64_t round, std::uint64_t words) {
  const std::uint64_t own = job.here().number();
  std::vector<trimtab::future<std::uint64_t>> answers;
  // Each begins with its next neighbour, so that not all send to the same one.
  for (std::uint32_t distance = 1; distance <= job.size(); ++distance) {
    const trimtab::locality where = job.at(static_cast<trimtab::locality_number>((own + distance) % job.size()));
    answers.push_back(trimtab::async(where, take_block, own, round, words, block_of(own, where.number(), round, words)));
  }
  std::uint64_t wrong = 0;
  for (trimtab::future<std::uint64_t>& answer : answers) wrong += answer.get();
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const auto words = static_cast<std::uint64_t>(line.number("--words", 1000, 0, 100'000'000));
  const auto rounds = static_cast<std::uint64_t>(line.number("--rounds", 100, 0, 1'000'000));
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    std::uint64_t wrong = 0;
    const double time_s = workload::timed(job, [&] {
      for (std::uint64_t round = 0; round < rounds; ++round) wrong += exchange_blocks(job, round, words);
    });
    return workload::conclude(job, time_s, wrong);
  });
}

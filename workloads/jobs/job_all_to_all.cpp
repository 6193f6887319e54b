// All to all: each locality sends a block to each one in each round. So many blocks of a sender are under way at most; then
// it waits until the oldest has been taken.
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "job_program.hpp"

namespace {

// How many words of the block are not what the sender must have sent.
std::uint64_t take_block(std::uint64_t from, std::uint64_t round, std::uint64_t words,
                         const std::vector<std::uint64_t>& block) {
  if (block.size() != words) return words + 1;
  return workload::count_wrong({from, trimtab::find_here().number(), round}, block);
}

// Blocks that are under way, the oldest first.
class outstanding_blocks {
 public:
  explicit outstanding_blocks(std::size_t most) : m_most(most) {}
  void add(trimtab::future<std::uint64_t> answer) {
    if (m_answers.size() == m_most) take_oldest();
    m_answers.push_back(std::move(answer));
  }
  // Wrong words of all, after all have been taken.
  std::uint64_t wrong() {
    while (!m_answers.empty()) take_oldest();
    return m_wrong;
  }

 private:
  void take_oldest() {
    m_wrong += m_answers.front().get();
    m_answers.pop_front();
  }

  std::size_t m_most;
  std::deque<trimtab::future<std::uint64_t>> m_answers;
  std::uint64_t m_wrong = 0;
};

struct block_counts {
  std::uint64_t words, rounds, outstanding;
};

std::uint64_t exchange_blocks(trimtab::job& job, const block_counts& counts) {
  const std::uint64_t own = job.here().number();
  outstanding_blocks blocks(counts.outstanding);
  for (std::uint64_t round = 0; round < counts.rounds; ++round)
    // Each begins with its next neighbour, so that not all send to the same one.
    for (std::uint32_t distance = 1; distance <= job.size(); ++distance) {
      const trimtab::locality where = job.at(static_cast<trimtab::locality_number>((own + distance) % job.size()));
      std::vector<std::uint64_t> block(counts.words);
      workload::fill_block({own, where.number(), round}, block);
      blocks.add(trimtab::async(where, take_block, own, round, counts.words, std::move(block)));
    }
  return blocks.wrong();
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const block_counts counts{.words = static_cast<std::uint64_t>(line.number("--words", 1000, 0, 100'000'000)),
                            .rounds = static_cast<std::uint64_t>(line.number("--rounds", 100, 0, 1'000'000)),
                            .outstanding = static_cast<std::uint64_t>(line.number("--outstanding", 128, 1, 1'000'000))};
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    std::uint64_t wrong = 0;
    const double time_s = workload::timed(job, [&] { wrong = exchange_blocks(job, counts); });
    return workload::conclude(job, time_s, wrong);
  });
}

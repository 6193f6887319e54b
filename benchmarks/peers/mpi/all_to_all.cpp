// workloads/jobs/job_all_to_all.cpp in plain MPI: as many blocks of a sender are under way at most. A block needs no answer
// here: MPI says when its memory is free again.
#include "blocks.hpp"
#include "mpi_program.hpp"

namespace {

struct block_counts {
  std::size_t words, rounds, outstanding;
};

// A ring of blocks, each with its request. Block number n of a rank is that of round n / (size - 1), to or from the
// neighbour at distance 1 + n % (size - 1).
class block_ring {
 public:
  block_ring(const peer::program& self, const block_counts& counts)
      : m_self(self),
        m_counts(counts),
        m_words(counts.words * counts.outstanding),
        m_requests(counts.outstanding, MPI_REQUEST_NULL) {}
  std::span<std::uint64_t> block(std::size_t number) {
    return std::span(m_words).subspan(number % m_counts.outstanding * m_counts.words, m_counts.words);
  }
  MPI_Request& request(std::size_t number) { return m_requests[number % m_counts.outstanding]; }
  void wait(std::size_t number) { MPI_Wait(&request(number), MPI_STATUS_IGNORE); }
  void wait_for_all() { MPI_Waitall(static_cast<int>(m_requests.size()), m_requests.data(), MPI_STATUSES_IGNORE); }
  std::size_t others() const { return static_cast<std::size_t>(m_self.size - 1); }
  std::size_t count() const { return m_counts.rounds * others(); }
  int distance(std::size_t number) const { return 1 + static_cast<int>(number % others()); }
  std::size_t round(std::size_t number) const { return number / others(); }

 private:
  const peer::program& m_self;
  const block_counts& m_counts;
  std::vector<std::uint64_t> m_words;
  std::vector<MPI_Request> m_requests;
};

std::uint64_t exchange_blocks(const peer::program& self, const block_counts& counts) {
  block_ring sent(self, counts), received(self, counts);
  const auto own = static_cast<std::uint64_t>(self.rank);
  const int words = static_cast<int>(counts.words);
  const auto post_receive = [&](std::size_t number) {
    const int from = (self.rank + self.size - received.distance(number)) % self.size;
    MPI_Irecv(received.block(number).data(), words, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, &received.request(number));
  };
  std::uint64_t wrong = 0;
  const auto take = [&](std::size_t number) {
    received.wait(number);
    const int from = (self.rank + self.size - received.distance(number)) % self.size;
    wrong += workload::count_wrong({static_cast<std::uint64_t>(from), own, received.round(number)}, received.block(number));
    if (number + counts.outstanding < received.count()) post_receive(number + counts.outstanding);
  };
  const std::size_t count = sent.count(), ahead = std::min(count, counts.outstanding);
  for (std::size_t number = 0; number < ahead; ++number) post_receive(number);
  for (std::size_t number = 0; number < count; ++number) {
    if (number >= counts.outstanding) take(number - counts.outstanding);
    sent.wait(number);
    const int to = (self.rank + sent.distance(number)) % self.size;
    workload::fill_block({own, static_cast<std::uint64_t>(to), sent.round(number)}, sent.block(number));
    MPI_Isend(sent.block(number).data(), words, MPI_UINT64_T, to, 0, MPI_COMM_WORLD, &sent.request(number));
  }
  for (std::size_t number = count - ahead; number < count; ++number) take(number);
  sent.wait_for_all();
  // The block that a rank has for itself.
  std::vector<std::uint64_t> block(counts.words);
  for (std::size_t round = 0; round < counts.rounds; ++round) {
    workload::fill_block({own, own, round}, block);
    wrong += workload::count_wrong({own, own, round}, block);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const block_counts counts{.words = static_cast<std::size_t>(self.number("--words", 1000)),
                            .rounds = static_cast<std::size_t>(self.number("--rounds", 100)),
                            .outstanding = static_cast<std::size_t>(self.number("--outstanding", 128))};
  self.flag("--no-check");
  self.end();
  std::uint64_t wrong = 0;
  const double time_s = self.timed([&] {
    if (self.size > 1) wrong = exchange_blocks(self, counts);
  });
  return self.conclude(time_s, wrong);
}

// workloads/jobs/job_histogram.cpp in plain MPI, in two ways: each update is a message, or (--bucket N) updates for one rank
// are collected by hand, N in a message.
#include <algorithm>

#include "histogram_keys.hpp"
#include "mpi_program.hpp"

namespace {

using index_type = std::uint64_t;
enum tag { updates_tag };

// Receives updates into buffers that are posted before, and counts them.
class receiver {
 public:
  receiver(std::vector<std::uint64_t>& bins, std::size_t most)
      : m_bins(bins), m_most(most), m_buffers(buffers * most), m_requests(buffers) {
    for (int number = 0; number < buffers; ++number) post_receive(number);
  }
  ~receiver() {
    for (MPI_Request& request : m_requests) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;

  // Takes what has come. How many messages that were.
  int poll() {
    int taken = 0;
    for (int is_there = 1; is_there != 0;) {
      int number = 0;
      MPI_Status status;
      MPI_Testany(buffers, m_requests.data(), &number, &is_there, &status);
      if (is_there == 0 || number == MPI_UNDEFINED) break;
      take(number, status);
      ++taken;
    }
    m_messages += static_cast<std::uint64_t>(taken);
    return taken;
  }
  std::uint64_t messages() const { return m_messages; }

 private:
  static constexpr int buffers = 16;
  void post_receive(int number) {
    MPI_Irecv(&m_buffers[static_cast<std::size_t>(number) * m_most], static_cast<int>(m_most), MPI_UINT64_T, MPI_ANY_SOURCE,
              updates_tag, MPI_COMM_WORLD, &m_requests[static_cast<std::size_t>(number)]);
  }
  void take(int number, const MPI_Status& status) {
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    const index_type* const first = &m_buffers[static_cast<std::size_t>(number) * m_most];
    for (int i = 0; i < count; ++i) ++m_bins[first[i]];
    post_receive(number);
  }

  std::vector<std::uint64_t>& m_bins;
  std::size_t m_most;
  std::vector<index_type> m_buffers;
  std::vector<MPI_Request> m_requests;
  std::uint64_t m_messages = 0;
};

// Buckets for one rank: one is filled while the others are sent.
class sender {
 public:
  sender(int to, std::size_t most, receiver& meanwhile)
      : m_to(to), m_most(most), m_meanwhile(meanwhile), m_words(buckets * most), m_requests(buckets, MPI_REQUEST_NULL) {}
  void add(index_type index) {
    m_words[m_current * m_most + m_filled++] = index;
    if (m_filled == m_most) send();
  }
  void send() {
    if (m_filled == 0) return;
    MPI_Isend(&m_words[m_current * m_most], static_cast<int>(m_filled), MPI_UINT64_T, m_to, updates_tag, MPI_COMM_WORLD,
              &m_requests[m_current]);
    ++m_messages;
    m_filled = 0;
    m_current = (m_current + 1) % buckets;
    wait_for(m_current);
  }
  void wait_for_all() {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) wait_for(bucket);
  }
  std::uint64_t messages() const { return m_messages; }

 private:
  static constexpr std::size_t buckets = 16;
  // Takes what others send meanwhile, or both would wait for room.
  void wait_for(std::size_t bucket) {
    int is_sent = 0;
    for (;;) {
      MPI_Test(&m_requests[bucket], &is_sent, MPI_STATUS_IGNORE);
      if (is_sent != 0) return;
      m_meanwhile.poll();
    }
  }

  int m_to;
  std::size_t m_most;
  receiver& m_meanwhile;
  std::vector<index_type> m_words;
  std::vector<MPI_Request> m_requests;
  std::size_t m_current = 0, m_filled = 0;
  std::uint64_t m_messages = 0;
};

struct draw_counts {
  std::uint64_t updates, bins, bucket;
};

void draw(const peer::program& self, std::vector<std::uint64_t>& own_bins, const draw_counts& counts) {
  const auto size = static_cast<std::uint64_t>(self.size), own = static_cast<std::uint64_t>(self.rank);
  receiver taken(own_bins, counts.bucket);
  std::vector<sender> senders;
  for (int to = 0; to < self.size; ++to) senders.emplace_back(to, counts.bucket, taken);
  // Often enough that others need not wait for room.
  constexpr std::uint64_t updates_a_look = 64;
  for (std::uint64_t update = 0; update < counts.updates; ++update) {
    const std::uint64_t bin = workload::histogram::bin_of(own, update, counts.bins);
    if (bin % size == own)
      ++own_bins[bin / size];
    else
      senders[bin % size].add(bin / size);
    if (update % updates_a_look == 0) taken.poll();
  }
  std::vector<std::uint64_t> sent;
  for (sender& each : senders) {
    each.send();
    sent.push_back(each.messages());
  }
  // How many messages each rank gets.
  std::uint64_t expected = 0;
  MPI_Request sum;
  MPI_Ireduce_scatter_block(sent.data(), &expected, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &sum);
  for (int is_known = 0; is_known == 0 || taken.messages() < expected; taken.poll())
    if (is_known == 0) MPI_Test(&sum, &is_known, MPI_STATUS_IGNORE);
  for (sender& each : senders) each.wait_for_all();
}

}  // namespace

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const draw_counts counts{.updates = static_cast<std::uint64_t>(self.number("--updates", 1'000'000)),
                           .bins = static_cast<std::uint64_t>(self.number("--bins", 100'000)),
                           .bucket = static_cast<std::uint64_t>(self.number("--bucket", 1))};
  const bool is_checked = !self.flag("--no-check");
  self.end();
  const auto size = static_cast<std::uint64_t>(self.size), own = static_cast<std::uint64_t>(self.rank);
  std::vector<std::uint64_t> own_bins(counts.bins / size + 1);
  const double time_s = self.timed([&] { draw(self, own_bins, counts); });
  std::uint64_t wrong = 0;
  if (is_checked)
    wrong = workload::histogram::count_wrong({own, size}, counts.updates, counts.bins,
                                             [&](std::uint64_t index) { return own_bins[index]; });
  return self.conclude(time_s, wrong);
}

// The code that coalesces parcels, in simulated time: what it costs on several networks, and that nothing is lost.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "simulation/traffic_patterns.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels::simulation {
namespace {

coalescing simulated_strict(std::uint32_t count, std::uint32_t wait_us) {
  return {.rules = coalescing::way::strict, .count = count, .wait_us = wait_us};
}

struct simulated_case {
  std::string name;
  network_parameters network;
  // Of what the best fixed setting costs in a burst. On a network whose messages cost most, one of more than a queue's
  // most_bytes would be better for all.
  double burst_share = 0.8;
};
void PrintTo(const simulated_case& one, std::ostream* stream) { *stream << one.name; }

class simulated_coalescing : public ::testing::TestWithParam<simulated_case> {
 protected:
  traffic_result run(traffic_result (*pattern)(const job_parameters&), const coalescing& settings) const {
    const traffic_result result = pattern({.network = GetParam().network, .settings = settings});
    EXPECT_GE(result.ns, 0) << "it has not come to its end";
    return result;
  }
};

TEST_P(simulated_coalescing, delays_no_call_that_the_next_one_needs) {
  const double alone = run(run_ping, simulated_strict(1, 0)).ns;
  EXPECT_LE(run(run_ping, {}).ns, 1.2 * alone);
}

// No setting can save what queueing a parcel costs, and the best fixed ones come close to that. So what is compared is what
// they cost beyond it.
TEST_P(simulated_coalescing, of_a_burst_costs_less_beyond_queueing_than_the_best_fixed_setting) {
  const auto queueing_ns = static_cast<double>(cpu_costs{}.parcel_ns);
  double best = 1e9;
  for (const std::uint32_t count : {1, 16, 64, 256, 1024})
    for (const std::uint32_t wait_us : {20, 100}) best = std::min(best, run(run_burst, simulated_strict(count, wait_us)).ns);
  EXPECT_LE(run(run_burst, {}).ns - queueing_ns, GetParam().burst_share * (best - queueing_ns));
}

// Who does not know whether more parcels follow may take twice as long as who does.
TEST_P(simulated_coalescing, delays_paced_parcels_by_what_sending_each_alone_takes_at_most) {
  const double alone = run(run_paced, simulated_strict(1, 0)).ns;
  EXPECT_LE(run(run_paced, {}).ns, 2.1 * alone);
}

INSTANTIATE_TEST_SUITE_P(
    networks, simulated_coalescing,
    ::testing::Values(
        simulated_case{"shared_memory", {.latency_ns = 100, .overhead_ns = 50, .gap_ns = 20, .gap_per_byte_ns = 0.05}},
        simulated_case{"fast", {.latency_ns = 800, .overhead_ns = 200, .gap_ns = 80, .gap_per_byte_ns = 0.04}},
        simulated_case{"cluster", {.latency_ns = 1500, .overhead_ns = 400, .gap_ns = 300, .gap_per_byte_ns = 0.1}},
        simulated_case{"tcp", {.latency_ns = 10'000, .overhead_ns = 2000, .gap_ns = 1000, .gap_per_byte_ns = 0.8}, 0.95}),
    [](const auto& parameter) { return parameter.param.name; });

// All to all with random sizes. Checks that each parcel comes once, whole and in order.
class all_to_all_check {
 public:
  all_to_all_check(const job_parameters& parameters, std::uint64_t parcels)
      : m_job(parameters), m_parcels(parcels), m_next(parameters.localities) {
    for (locality_number number = 0; number < m_job.size(); ++number) {
      m_next[number].resize(m_job.size());
      m_job.at(number).set_on_parcel([this, number](locality_number from, bytes_view content) {
        std::uint64_t sequence = 0;
        std::memcpy(&sequence, content.data(), sizeof sequence);
        m_wrong += sequence != m_next[number][from]++ || content.size() != size_of(from, number, sequence);
        ++m_received;
      });
      m_job.at(number).add_task({sender(number)});
    }
  }
  void expect_all() {
    const std::uint64_t expected = m_parcels * m_job.size() * (m_job.size() - 1);
    EXPECT_TRUE(m_job.run_until([&] { return m_received >= expected; })) << m_received << " of " << expected;
    // What was sent twice would come now.
    m_job.run_until([] { return false; }, 1'000'000);
    EXPECT_EQ(m_received, expected);
    EXPECT_EQ(m_wrong, 0u);
  }
  const auto& trace() { return m_job.network().trace(); }

 private:
  static std::size_t size_of(locality_number from, locality_number to, std::uint64_t sequence) {
    const std::uint64_t random = base::mix(from * 1000 + to + (sequence << 32));
    return 8 + (random % 50 == 0 ? random % 30'000 : random % 100);
  }
  step sender(locality_number from) {
    return [this, from, index = std::uint64_t{0}](simulated_locality& self, simulated_thread&) mutable {
      const std::uint64_t others = m_job.size() - 1, sequence = index / others;
      const auto to = static_cast<locality_number>((from + 1 + index % others) % m_job.size());
      std::vector<std::byte> content(size_of(from, to, sequence));
      std::memcpy(content.data(), &sequence, sizeof sequence);
      self.send_parcel(to, content);
      return ++index == others * m_parcels ? progress::done : progress::again;
    };
  }
  simulated_job m_job;
  std::uint64_t m_parcels, m_received = 0, m_wrong = 0;
  std::vector<std::vector<std::uint64_t>> m_next;  // sequence number, by receiver and sender
};

TEST(simulated_jobs, lose_double_and_reorder_nothing_among_64_localities) {
  for (const coalescing& settings : {coalescing{}, simulated_strict(16, 100)})
    all_to_all_check({.localities = 64, .network = {.jitter_ns = 2000}, .settings = settings}, 10).expect_all();
}

TEST(simulated_jobs, wait_for_room_of_a_network_that_refuses) {
  all_to_all_check({.localities = 4, .network = {.gap_ns = 2000, .longest_queue_ns = 1000}}, 200).expect_all();
}

TEST(simulated_jobs, are_the_same_for_the_same_seed_only) {
  const auto trace_of = [](std::uint64_t seed) {
    all_to_all_check job({.localities = 5, .workers = 2, .network = {.jitter_ns = 700}, .seed = seed, .keeps_trace = true},
                         50);
    job.expect_all();
    return job.trace();
  };
  const auto first = trace_of(1);
  EXPECT_GT(first.size(), 100u);
  EXPECT_EQ(first, trace_of(1));
  EXPECT_NE(first, trace_of(2));
}

}  // namespace
}  // namespace trimtab::parcels::simulation

#include "trimtab/diagnosis/link_latency.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trimtab::diagnosis {

namespace {

// Two steps of two pieces each: 10 and 20 ns, 30 and 0 ns in the recorded run.
std::vector<std::int64_t> latencies(const std::vector<double>& lengths_ns) {
  const std::vector<std::int64_t> recorded_ns{10, 20, 30, 0}, first_piece{0, 2};
  std::vector<double> before_ns{0};
  for (const double length_ns : lengths_ns) before_ns.push_back(before_ns.back() + length_ns);
  const std::vector<std::int32_t> piece{0, 1, 2, 3, -1};
  const std::vector<step_index> from{0, 0, 1, 1, 1};
  const std::vector<std::int64_t> within_ns{5, 20, 0, 0, 7}, latency_ns{0, 3, 4, 0, 6};
  std::vector<std::int64_t> to(piece.size());
  write_latencies({piece.size(), piece.data(), from.data(), within_ns.data(), latency_ns.data(), first_piece.data(),
                   recorded_ns.data(), before_ns.data()},
                  to);
  return to;
}

}  // namespace

TEST(link_latency, counts_from_the_begin_of_the_step) {
  EXPECT_EQ(latencies({10, 20, 30, 0}), (std::vector<std::int64_t>{5, 33, 4, 30, 6}));
}

TEST(link_latency, a_moment_stays_at_its_share_of_a_piece) {
  EXPECT_EQ(latencies({20, 10, 15, 1}), (std::vector<std::int64_t>{10, 33, 4, 15, 6}));
  EXPECT_EQ(latencies({5, 20, 30, 0})[0], 2) << "2.5, to the even number";
}

}  // namespace trimtab::diagnosis

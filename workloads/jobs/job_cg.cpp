// Conjugate gradients for the equation of Poisson on a square, whose rows are divided among the localities: in each step an
// exchange of edges between neighbours and two sums over all.
#include <cmath>
#include <cstdint>
#include <vector>

#include "ghosts.hpp"
#include "job_program.hpp"

namespace {

using vector = std::vector<double>;

// The rows of one locality; without a job, all rows.
class square_part {
 public:
  square_part(std::int64_t size, workload::span_of_items rows, trimtab::job* job)
      : m_size(size), m_rows(rows), m_job(job), m_edge(static_cast<std::size_t>(size)) {}

  // The solution after so many steps.
  vector solve(std::int64_t steps) {
    const std::size_t count = static_cast<std::size_t>(m_rows.size() * m_size);
    vector x(count), r(count);
    for (std::size_t i = 0; i < count; ++i)
      r[i] = static_cast<double>((m_rows.first * m_size + static_cast<std::int64_t>(i)) * 7919 % 101) / 101;
    vector p = r;
    double rr = sum_of_products(r, r);
    for (std::int64_t step = 0; step < steps && rr > 1e-20; ++step) {
      const vector q = product(p, step);
      const double alpha = rr / sum_of_products(p, q);
      for (std::size_t i = 0; i < count; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
      const double next = sum_of_products(r, r);
      for (std::size_t i = 0; i < count; ++i) p[i] = r[i] + next / rr * p[i];
      rr = next;
    }
    return x;
  }

 private:
  double sum_of_products(const vector& a, const vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return m_job == nullptr ? sum : m_job->all_reduce(sum, std::plus<>());
  }

  // The matrix of five points times p.
  vector product(const vector& p, std::int64_t step) {
    const vector lower = exchange(p, step, workload::side::lower), upper = exchange(p, step, workload::side::upper);
    const std::size_t width = static_cast<std::size_t>(m_size), count = p.size();
    vector q(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t column = i % width;
      q[i] = 4 * p[i] - (column > 0 ? p[i - 1] : 0) - (column + 1 < width ? p[i + 1] : 0) -
             (i >= width ? p[i - width] : lower[column]) - (i + width < count ? p[i + width] : upper[column]);
    }
    return q;
  }

  // The row of the neighbour on that side, which gets ours; zeros beyond the square.
  vector exchange(const vector& p, std::int64_t step, workload::side which) {
    const bool is_lower = which == workload::side::lower;
    if (m_job == nullptr || (is_lower ? m_rows.first == 0 : m_rows.last == m_size)) return m_edge;
    const auto width = static_cast<std::ptrdiff_t>(m_size);
    const trimtab::locality neighbour = m_job->at(is_lower ? m_job->here().number() - 1 : m_job->here().number() + 1);
    workload::send_ghost(neighbour, is_lower ? workload::side::upper : workload::side::lower, step,
                         is_lower ? vector(p.begin(), p.begin() + width) : vector(p.end() - width, p.end()));
    return workload::receive_ghost(which, step);
  }

  std::int64_t m_size;
  workload::span_of_items m_rows;
  trimtab::job* m_job;
  vector m_edge;
};

std::uint64_t count_wrong(const vector& x, const vector& serial, std::int64_t first) {
  std::uint64_t wrong = 0;
  // Sums are rounded in another order.
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = serial[static_cast<std::size_t>(first) + i];
    wrong += !(std::abs(x[i] - expected) <= 1e-8 * std::max(1.0, std::abs(expected)));
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  const std::int64_t size = line.number("--size", 200, 1, 20'000);
  const std::int64_t steps = line.number("--steps", 50, 0, 100'000);
  line.end();
  return workload::run_in_job(line, [&](trimtab::job& job) {
    if (size < job.size()) line.fail("--size", "at least one row for each locality", std::to_string(size));
    const workload::span_of_items rows = workload::part_of(size, job.here().number(), job.size());
    vector x;
    const double time_s = workload::timed(job, [&] { x = square_part(size, rows, &job).solve(steps); });
    std::uint64_t wrong = 0;
    if (line.is_checked) wrong = count_wrong(x, square_part(size, {0, size}, nullptr).solve(steps), rows.first * size);
    return workload::conclude(job, time_s, wrong);
  });
}

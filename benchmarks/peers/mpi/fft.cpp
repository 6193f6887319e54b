// workloads/jobs/job_fft.cpp in plain MPI: each transposition packs the parts for each rank, and is one MPI_Alltoallv.
#include "fourier.hpp"
#include "mpi_program.hpp"

namespace {

using workload::fourier::element;
using workload::fourier::plan;

class distributed_transform {
 public:
  distributed_transform(const peer::program& self, const plan& how) : m_self(self), m_plan(how), m_rows(rows_of(self.rank)) {
    const auto own_rows = static_cast<std::size_t>(m_rows.size());
    m_values.resize(own_rows * how.side());
    m_sent.resize(m_values.size());
    m_received.resize(m_values.size());
    // A count is of doubles: two for each element. The parts for a rank and from it have the same length.
    for (int rank = 0; rank < self.size; ++rank) {
      m_counts.push_back(static_cast<int>(2 * rows_of(rank).size() * m_rows.size()));
      m_offsets.push_back(static_cast<int>(2 * rows_of(rank).first * m_rows.size()));
    }
    for (std::size_t i = 0; i < m_values.size(); ++i) m_values[i] = workload::fourier::start_of(first_element() + i);
  }

  void transform() {
    transpose();
    for_each_row([&](std::span<element> row, std::size_t number) { m_plan.transform_first(row, number); });
    transpose();
    for_each_row([&](std::span<element> row, std::size_t) { m_plan.transform_second(row); });
    transpose();
  }

  std::span<const element> current() const { return m_values; }
  std::size_t first_element() const { return static_cast<std::size_t>(m_rows.first) * m_plan.side(); }

 private:
  workload::span_of_items rows_of(int rank) const {
    return workload::part_of(static_cast<std::int64_t>(m_plan.side()), rank, m_self.size);
  }
  std::size_t own_rows() const { return static_cast<std::size_t>(m_rows.size()); }

  template <class function>
  void for_each_row(function&& work) {
    for (std::size_t row = 0; row < own_rows(); ++row)
      work(std::span(m_values).subspan(row * m_plan.side(), m_plan.side()), static_cast<std::size_t>(m_rows.first) + row);
  }

  void transpose() {
    auto next = m_sent.begin();
    for (int rank = 0; rank < m_self.size; ++rank)
      for (std::size_t row = 0; row < own_rows(); ++row) {
        const auto begin = m_values.begin() + static_cast<std::ptrdiff_t>(row * m_plan.side());
        next = std::copy(begin + rows_of(rank).first, begin + rows_of(rank).last, next);
      }
    MPI_Alltoallv(m_sent.data(), m_counts.data(), m_offsets.data(), MPI_DOUBLE, m_received.data(), m_counts.data(),
                  m_offsets.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    // What came from a rank are its rows, which are columns here: four at a time, for whole lines of the cache.
    const element* from = m_received.data();
    for (std::size_t column = 0; column < m_plan.side(); column += 4) {
      const std::size_t columns = std::min<std::size_t>(4, m_plan.side() - column);
      for (std::size_t row = 0; row < own_rows(); ++row)
        for (std::size_t i = 0; i < columns; ++i) m_values[row * m_plan.side() + column + i] = from[i * own_rows() + row];
      from += columns * own_rows();
    }
  }

  const peer::program& m_self;
  const plan& m_plan;
  workload::span_of_items m_rows;
  std::vector<element> m_values, m_sent, m_received;
  std::vector<int> m_counts, m_offsets;
};

}  // namespace

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const std::int64_t side = self.number("--side", 256), steps = self.number("--steps", 1);
  const bool is_checked = !self.flag("--no-check");
  self.end();
  const plan how(static_cast<std::size_t>(side));
  distributed_transform own(self, how);
  const double time_s = self.timed([&] {
    for (std::int64_t step = 0; step < steps; ++step) own.transform();
  });
  return self.conclude(
      time_s, is_checked ? workload::fourier::count_wrong(own.current(), own.first_element(), how.size(), steps) : 0);
}

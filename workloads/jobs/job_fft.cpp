// A Fourier transform of one long row by transpositions: each locality transforms some rows of a matrix, and sends the parts
// of each row to those that have them after the transposition. A parcel goes as soon as its rows have been transformed.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "fourier.hpp"
#include "job_program.hpp"

namespace {

using workload::fourier::element;
using workload::fourier::plan;

// Where the rows of this locality arrive in a transposition, by parcels with some columns each.
class landing {
 public:
  // Before the first parcel can come. parcels: in each transposition.
  void prepare(std::size_t rows, std::size_t side, std::int64_t parcels) {
    m_side = side;
    m_values.resize(rows * side);
    m_parcels = parcels;
    m_missing.store(parcels, std::memory_order_relaxed);
  }

  // values: rows of the sender, which are columns here, from `first`.
  void put(std::size_t first, std::span<const element> values) {
    const std::size_t rows = m_values.size() / m_side, columns = values.size() / rows;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < columns; ++i) m_values[row * m_side + first + i] = values[i * rows + row];
    // Acquires what the others have put, for whoever waits.
    if (m_missing.fetch_sub(1, std::memory_order_acq_rel) == 1) m_complete.send(0);
  }

  // Until all have come. The next ones come only after the caller has sent its own parcels.
  void wait() {
    m_complete.receive();
    m_missing.store(m_parcels, std::memory_order_relaxed);
  }

  std::span<element> values() { return m_values; }

 private:
  std::size_t m_side = 1;
  std::int64_t m_parcels = 0;
  std::vector<element> m_values;
  std::atomic<std::int64_t> m_missing{0};
  trimtab::channel<int> m_complete{1};
};

// By turns: another locality is at most one transposition ahead, since it needs our parcels for the next one.
landing landings[2];

void put_columns(std::uint64_t transposition, std::uint64_t first, const std::vector<element>& values) {
  landings[transposition % 2].put(first, values);
}

class distributed_transform {
 public:
  distributed_transform(trimtab::job& job, const plan& how, std::int64_t rows_a_parcel)
      : m_job(job), m_plan(how), m_rows_a_parcel(rows_a_parcel), m_rows(rows_of(job.here().number())) {
    std::int64_t parcels = 0;
    for (std::uint32_t from = 0; from < job.size(); ++from)
      parcels += (rows_of(from).size() + rows_a_parcel - 1) / rows_a_parcel;
    for (landing& each : landings) each.prepare(static_cast<std::size_t>(m_rows.size()), how.side(), parcels);
    const std::span<element> start = current();
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = workload::fourier::start_of(first_element() + i);
  }

  void transform() {
    transpose([](std::span<element>, std::size_t) {});
    transpose([&](std::span<element> row, std::size_t number) { m_plan.transform_first(row, number); });
    transpose([&](std::span<element> row, std::size_t) { m_plan.transform_second(row); });
  }

  // The rows of this locality, as they are now.
  std::span<element> current() { return landings[(m_transposition + 1) % 2].values(); }
  std::size_t first_element() const { return static_cast<std::size_t>(m_rows.first) * m_plan.side(); }

 private:
  workload::span_of_items rows_of(std::uint32_t number) const {
    return workload::part_of(static_cast<std::int64_t>(m_plan.side()), number, m_job.size());
  }

  // Each row is worked on, and then sent.
  template <class function>
  void transpose(function&& work) {
    const std::size_t side = m_plan.side();
    for (std::int64_t first = m_rows.first; first < m_rows.last; first += m_rows_a_parcel) {
      const std::int64_t last = std::min(first + m_rows_a_parcel, m_rows.last);
      const auto rows = current().subspan(static_cast<std::size_t>(first - m_rows.first) * side,
                                          static_cast<std::size_t>(last - first) * side);
      for (std::int64_t row = first; row < last; ++row)
        work(rows.subspan(static_cast<std::size_t>(row - first) * side, side), static_cast<std::size_t>(row));
      send(static_cast<std::uint64_t>(first), rows);
    }
    landings[m_transposition % 2].wait();
    ++m_transposition;
  }

  // To each locality its columns of these rows. Each begins with its next neighbour, so that not all send to the same one.
  void send(std::uint64_t first, std::span<const element> rows) {
    const std::uint32_t own = m_job.here().number();
    for (std::uint32_t distance = 1; distance <= m_job.size(); ++distance) {
      const std::uint32_t to = (own + distance) % m_job.size();
      const workload::span_of_items columns = rows_of(to);
      std::vector<element> values;
      values.reserve(static_cast<std::size_t>(columns.size()) * rows.size() / m_plan.side());
      for (std::size_t begin = 0; begin < rows.size(); begin += m_plan.side()) {
        const auto row = rows.begin() + static_cast<std::ptrdiff_t>(begin);
        values.insert(values.end(), row + columns.first, row + columns.last);
      }
      if (to == own)
        put_columns(m_transposition, first, values);
      else
        trimtab::post(m_job.at(to), put_columns, m_transposition, first, std::move(values));
    }
  }

  trimtab::job& m_job;
  const plan& m_plan;
  std::int64_t m_rows_a_parcel;
  workload::span_of_items m_rows;
  std::uint64_t m_transposition = 0;
};

}  // namespace

int main(int argc, char** argv) {
  workload::command_line line(argc, argv);
  // Of the matrix: the transform is of side * side elements.
  const std::int64_t side = line.number("--side", 256, 1, 1 << 15);
  const std::int64_t steps = line.number("--steps", 1, 0, 100'000);
  const std::int64_t rows_a_parcel = line.number("--rows-a-parcel", 4, 1, 1 << 15);
  line.end();
  if (!std::has_single_bit(static_cast<std::uint64_t>(side))) line.fail("--side", "a power of 2", std::to_string(side));
  return workload::run_in_job(line, [&](trimtab::job& job) {
    if (side < job.size()) line.fail("--side", "at least one row for each locality", std::to_string(side));
    const plan how(static_cast<std::size_t>(side));
    distributed_transform own(job, how, rows_a_parcel);
    const double time_s = workload::timed(job, [&] {
      for (std::int64_t step = 0; step < steps; ++step) own.transform();
    });
    std::uint64_t wrong = 0;
    if (line.is_checked) wrong = workload::fourier::count_wrong(own.current(), own.first_element(), how.size(), steps);
    return workload::conclude(job, time_s, wrong);
  });
}

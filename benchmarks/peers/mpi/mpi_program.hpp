// What the programs in plain MPI have in common: the same options, times and verdicts as the workloads of jobs.
#pragma once

// The C++ bindings of MPI 2 are no more, but Open MPI still includes them.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"
#include "rows.hpp"

namespace peer {

class program {
 public:
  program(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    m_words.assign(argv + 1, argv + argc);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  ~program() { MPI_Finalize(); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // `--name VALUE`; `otherwise` where it is not given.
  std::int64_t number(std::string_view name, std::int64_t otherwise) {
    for (std::size_t i = 0; i + 1 < m_words.size(); ++i)
      if (m_words[i] == name) {
        const std::int64_t value = std::atoll(m_words[i + 1].c_str());
        m_words.erase(m_words.begin() + static_cast<std::ptrdiff_t>(i),
                      m_words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
        return value;
      }
    return otherwise;
  }
  bool flag(std::string_view name) { return std::erase(m_words, name) != 0; }
  // After all have been asked for.
  void end() const {
    if (m_words.empty()) return;
    std::fprintf(stderr, "unknown option %s\n", m_words.front().c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  // Seconds that f takes, between two barriers.
  template <class function>
  double timed(function&& f) const {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    f();
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
  }

  // The exit status. wrong: values of this rank that differ from the serial ones.
  int conclude(double time_s, std::uint64_t wrong) const {
    std::uint64_t all_wrong = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("ranks=%d\ntime_s=%.9g\ncheck=%s\n", size, time_s, all_wrong == 0 ? "right" : "wrong");
    return all_wrong == 0 ? 0 : 1;
  }

  int rank = 0, size = 1;

 private:
  std::vector<std::string> m_words;
};

// Edges of rows and sums, for the solvers of rows.hpp.
inline workload::row_network network_of(const program& self) {
  const auto exchange = [&self](std::span<const double> rows, std::size_t width) {
    workload::ghost_rows ghosts;
    MPI_Request requests[4];
    int count = 0;
    const auto swap = [&](int neighbour, std::span<const double> sent, std::vector<double>& received) {
      received.resize(width);
      const int length = static_cast<int>(width);
      MPI_Irecv(received.data(), length, MPI_DOUBLE, neighbour, 0, MPI_COMM_WORLD, &requests[count++]);
      MPI_Isend(sent.data(), length, MPI_DOUBLE, neighbour, 0, MPI_COMM_WORLD, &requests[count++]);
    };
    if (self.rank > 0) swap(self.rank - 1, rows.first(width), ghosts.lower);
    if (self.rank + 1 < self.size) swap(self.rank + 1, rows.last(width), ghosts.upper);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return ghosts;
  };
  const auto sum = [](double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
  };
  return {exchange, sum};
}

}  // namespace peer

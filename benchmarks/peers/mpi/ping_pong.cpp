// Round trips of messages of --bytes between two ranks, --trips of them: what MPI_Send and MPI_Recv cost. The median of
// batches of 100, as in rooms/parcels/bench/round_trip_bench.cpp.
#include <algorithm>

#include "mpi_program.hpp"

int main(int argc, char** argv) {
  peer::program self(argc, argv);
  const std::int64_t bytes = self.number("--bytes", 16), trips = self.number("--trips", 10'000);
  self.end();
  std::vector<unsigned char> message(static_cast<std::size_t>(bytes));
  const int length = static_cast<int>(bytes), other = 1 - self.rank;
  const auto send = [&] { MPI_Send(message.data(), length, MPI_BYTE, other, 0, MPI_COMM_WORLD); };
  const auto receive = [&] { MPI_Recv(message.data(), length, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); };
  std::uint64_t wrong = 0;
  const auto go = [&](std::int64_t trip) {
    if (self.rank == 0) {
      message.front() = static_cast<unsigned char>(trip);
      send();
      receive();
      wrong += message.front() != static_cast<unsigned char>(trip + 1);
    } else {
      receive();
      ++message.front();
      send();
    }
  };
  for (std::int64_t trip = 0; trip < trips / 10 + 1; ++trip) go(trip);
  std::vector<double> batches;
  const double time_s = self.timed([&] {
    for (std::int64_t done = 0; done < trips;) {
      const double begin = MPI_Wtime();
      const std::int64_t begun = done;
      for (; done < trips && done < begun + 100; ++done) go(done);
      batches.push_back(1e6 * (MPI_Wtime() - begin) / static_cast<double>(done - begun));
    }
  });
  std::ranges::nth_element(batches, batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2));
  if (self.rank == 0) std::printf("round_trip_us=%.6g\n", batches[batches.size() / 2]);
  return self.conclude(time_s, wrong);
}

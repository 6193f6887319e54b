// Round trips of messages of --bytes between two ranks, --trips of them: what MPI_Send and MPI_Recv cost.
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
  const auto go = [&](std::int64_t count) {
    for (std::int64_t trip = 0; trip < count; ++trip) {
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
    }
  };
  go(trips / 10 + 1);
  return self.conclude(self.timed([&] { go(trips); }), wrong);
}

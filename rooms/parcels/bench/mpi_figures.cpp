// The MPI transport beside plain MPI, in one run: mpirun -n 2 mpi_figures [LIBRARY [TRIPS [MESSAGES]]]
//
// TRIPS round trips and rate of MESSAGES messages of 16 bytes, by default 500 and 100,000. Each number is the median of nine
// batches, and the batches of all ways take turns. LIBRARY: the file of the MPI library; empty: what is found.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "transport/mpi_library.hpp"
#include "trimtab/base/clock.hpp"

namespace {

using namespace trimtab::parcels;
namespace base = trimtab::base;

int round_trips = 500, burst = 100'000;
constexpr int batches = 9;
constexpr std::size_t message_bytes = 16;

class plain_mpi {
 public:
  explicit plain_mpi(const mpi::library& library) : m_mpi(library) { m_mpi.call.comm_rank(m_mpi.table.world, &m_rank); }
  int rank() const { return m_rank; }
  void ping() { m_rank == 0 ? (send(), receive()) : (receive(), send()); }
  void flood() {
    for (int count = 0; count < burst; ++count) m_rank == 0 ? send() : receive();
    m_rank == 0 ? receive() : send();
  }

 private:
  void send() {
    m_mpi.call.send(m_bytes.data(), static_cast<int>(message_bytes), m_mpi.table.byte_type, 1 - m_rank, 5,
                    m_mpi.table.world);
  }
  void receive() {
    m_mpi.call.recv(m_bytes.data(), static_cast<int>(message_bytes), m_mpi.table.byte_type, 1 - m_rank, 5, m_mpi.table.world,
                    reinterpret_cast<void*>(m_mpi.table.status_ignore));
  }
  const mpi::library& m_mpi;
  int m_rank = 0;
  std::array<std::byte, message_bytes> m_bytes = {};
};

class over_transport final : public message_sink {
 public:
  over_transport(transport& link, bool sleeps) : m_link(link), m_sleeps(sleeps) {}
  void on_message(locality_number, bytes_view) noexcept override { ++m_received; }
  void on_left(locality_number) noexcept override {}
  void on_lost(locality_number, std::string_view) noexcept override {}
  void ping() { m_link.number() == 0 ? (send(), receive(1)) : (receive(1), send()); }
  void flood() {
    if (m_link.number() == 0)
      for (int count = 0; count < burst; ++count) send();
    else
      receive(burst);
    m_link.number() == 0 ? receive(1) : send();
  }

 private:
  void send() {
    while (m_link.try_send(1 - m_link.number(), bytes_view(m_bytes)) == send_status::no_room) m_link.wait(1'000'000);
  }
  void receive(int count) {
    for (m_wanted += static_cast<std::uint64_t>(count); m_received < m_wanted;) {
      if (m_link.receive(*this, 1000) != 0) continue;
      if (m_sleeps)
        m_link.wait(1'000'000'000);
      else
        sched_yield();
    }
  }
  transport& m_link;
  bool m_sleeps;
  std::uint64_t m_received = 0, m_wanted = 0;
  std::array<std::byte, message_bytes> m_bytes = {};
};

struct measured_way {
  const char* name;
  std::function<void()> ping, flood;
  std::vector<double> round_trip_us = {}, message_ns = {};
};

double seconds_of(const std::function<void()>& work, int count) {
  const std::uint64_t start_ns = base::monotonic_ns();
  for (int done = 0; done < count; ++done) work();
  return 1e-9 * static_cast<double>(base::monotonic_ns() - start_ns);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string path = argument_count > 1 ? arguments[1] : "";
  if (argument_count > 2) round_trips = std::max(1, std::atoi(arguments[2]));
  if (argument_count > 3) burst = std::max(1, std::atoi(arguments[3]));
  mpi::loaded_library result = mpi::load_library(path, mpi_launcher::unknown);
  int level = 0;
  if (result.error.empty()) result.mpi.call.init_thread(nullptr, nullptr, result.mpi.table.thread_multiple, &level);
  mpi_options options;
  options.library = path;
  options.started_size = 2;
  opened_transport opened;
  if (result.error.empty()) opened = open_mpi(options);
  if (!opened.link) return std::fprintf(stderr, "%s%s\n", result.error.c_str(), opened.error.c_str()), 1;

  plain_mpi plain(result.mpi);
  over_transport polling(*opened.link, false), sleeping(*opened.link, true);
  measured_way ways[] = {{"plain MPI", [&] { plain.ping(); }, [&] { plain.flood(); }},
                         {"transport, polled", [&] { polling.ping(); }, [&] { polling.flood(); }},
                         {"transport, wait()", [&] { sleeping.ping(); }, [&] { sleeping.flood(); }}};
  for (int batch = 0; batch < batches; ++batch)
    for (measured_way& way : ways) {
      way.round_trip_us.push_back(1e6 * seconds_of(way.ping, round_trips) / round_trips);
      way.message_ns.push_back(1e9 * seconds_of(way.flood, 1) / burst);
    }
  if (plain.rank() == 0) std::printf("%s\n", result.mpi.version.c_str());
  for (const measured_way& way : ways)
    if (plain.rank() == 0)
      std::printf("%-18s round trip %8.2f us   %7.1f ns a message\n", way.name, median(way.round_trip_us),
                  median(way.message_ns));
  opened.link->leave(10'000'000'000);
  opened.link.reset();
  result.mpi.call.finalize();
}

// Round trips between two localities on this machine, each on a CPU of its own:
//
//   round_trip_bench shm|tcp [TRIPS]
//
// Prints one line of JSON, with medians of batches (another program that gets the CPU spoils few of them): us of a message
// of 16 bytes through the transport, whose members poll; the same with members that sleep until something comes; and of a
// call with an argument of 8 bytes whose result is waited for. Answers are checked: a wrong one ends the program with
// status 1. benchmarks/jobs.py compares them with MPI.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "two_localities.hpp"

namespace {

namespace parcels = trimtab::parcels;
using trimtab::base::monotonic_ns;

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "round_trip_bench: %s gave a wrong answer\n", what);
  std::_Exit(1);
}

constexpr std::uint64_t batch = 100;

// us of a round trip: the median of batches of them. The last one may be short.
template <class function>
double median_us(std::uint64_t trips, function&& trip) {
  std::vector<double> batches;
  for (std::uint64_t done = 0; done < trips;) {
    const std::uint64_t begin_ns = monotonic_ns(), begun = done;
    for (; done < trips && done < begun + batch; ++done) trip(done);
    batches.push_back(1e-3 * static_cast<double>(monotonic_ns() - begin_ns) / static_cast<double>(done - begun));
  }
  std::ranges::nth_element(batches, batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2));
  return batches[batches.size() / 2];
}

// Messages back and forth, without anything above the transport.
class messages final : parcels::message_sink {
 public:
  messages(parcels::transport& link, bool sleeps) : m_link(link), m_sleeps(sleeps) {}

  double round_trip_us(std::uint64_t trips) {
    return median_us(trips, [&](std::uint64_t trip) {
      if (m_link.number() != 0) receive();
      send(m_link.number() == 0 ? trip : m_last + 1);
      if (m_link.number() != 0) return;
      receive();
      check(m_last == trip + 1, "the transport");
    });
  }

 private:
  void on_message(parcels::locality_number, parcels::bytes_view bytes) noexcept override {
    std::memcpy(&m_last, bytes.data(), sizeof m_last);
    m_has_come = true;
  }
  void on_left(parcels::locality_number) noexcept override {}
  void on_lost(parcels::locality_number, std::string_view) noexcept override { std::_Exit(1); }

  void send(std::uint64_t value) {
    const std::array<std::uint64_t, 2> content{value, 0};
    while (m_link.try_send(1 - m_link.number(), std::as_bytes(std::span(content))) == parcels::send_status::no_room)
      m_link.wait(1'000'000);
  }
  void receive() {
    for (m_has_come = false; !m_has_come;)
      if (m_link.receive(*this, 1) == 0 && m_sleeps) m_link.wait(1'000'000'000);
  }

  parcels::transport& m_link;
  bool m_sleeps, m_has_come = false;
  std::uint64_t m_last = 0;
};

std::uint64_t next_number(std::uint64_t value) { return value + 1; }

double call_us(parcels::job& own, std::uint64_t trips) {
  const parcels::locality other = own.at(1);
  return median_us(trips, [&](std::uint64_t trip) { check(async(other, next_number, trip).get() == trip + 1, "the call"); });
}

int measure(const std::string& transport, std::uint64_t trips) {
  trimtab::two_localities own(transport);
  own.use_one_cpu_each();
  const std::uint64_t few = trips / 10 + 1;
  messages polling(own.link(), false), sleeping(own.link(), true);
  polling.round_trip_us(few);
  const double polled = polling.round_trip_us(trips), slept = sleeping.round_trip_us(few);
  {
    parcels::job started(own.take_link(), {.runtime = {.workers = 1}});
    if (own.is_first())
      started.home().run([&] {
        call_us(started, few);
        std::printf("{\"polled\": %.4f, \"sleeping\": %.4f, \"call\": %.4f}\n", polled, slept, call_us(started, trips));
        std::fflush(stdout);
      });
  }
  return own.end();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string transport = argc > 1 ? argv[1] : "";
  if ((transport != "shm" && transport != "tcp") || argc > 3)
    return std::fprintf(stderr, "usage: round_trip_bench shm|tcp [TRIPS]\n"), 2;
  try {
    return measure(transport, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "round_trip_bench: %s\n", error.what()), 2;
  }
}

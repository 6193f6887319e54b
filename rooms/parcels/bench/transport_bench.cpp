// What a message costs: one way, as a round trip, and as bandwidth, between two threads that never sleep. A raw ring of the
// same kind as that of shared memory, without members, doorbells or ends, is the bound.
//
//     build/release/rooms/parcels/transport_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/parcels/transport/shm_transport.hpp"

namespace trimtab::parcels {
namespace {

// One direction of a connection. try_send: false if there is no room. receive: how many messages have come.
class one_way_link {
 public:
  one_way_link() = default;
  one_way_link(const one_way_link&) = delete;
  one_way_link& operator=(const one_way_link&) = delete;
  virtual ~one_way_link() = default;
  virtual bool try_send(bytes_view message) = 0;
  virtual std::size_t receive() = 0;
};

// Two of them, in opposite directions.
struct connection {
  std::shared_ptr<one_way_link> there, back;
  std::string error = {};
};

// ---- a raw ring

class raw_ring final : public one_way_link {
 public:
  bool try_send(bytes_view message) override {
    const std::size_t words = 1 + (message.size() + 7) / 8, offset = m_tail % ring_words;
    const std::size_t skipped = ring_words - offset < words ? ring_words - offset : 0;
    if (m_tail + skipped + words + 1 - m_seen_head > ring_words) {
      m_seen_head = m_head.load(std::memory_order_acquire);
      if (m_tail + skipped + words + 1 - m_seen_head > ring_words) return false;
    }
    const std::size_t begin = skipped != 0 ? 0 : offset;
    word(begin + words).store(0, std::memory_order_relaxed);
    std::memcpy(&m_words[begin + 1], message.data(), message.size());
    if (skipped != 0) word(0).store(message.size(), std::memory_order_relaxed);
    word(offset).store(skipped != 0 ? ~std::uint64_t{0} : message.size(), std::memory_order_release);
    m_tail += skipped + words;
    return true;
  }

  std::size_t receive() override {
    std::size_t count = 0;
    std::size_t head = m_head.load(std::memory_order_relaxed);
    for (std::uint64_t size; count < 64 && (size = word(head).load(std::memory_order_acquire)) != 0; ++count) {
      if (size == ~std::uint64_t{0}) {
        head += ring_words - head % ring_words;
        size = word(0).load(std::memory_order_relaxed);
      }
      benchmark::DoNotOptimize(m_words[head % ring_words + 1]);
      head += 1 + (size + 7) / 8;
    }
    if (count != 0) m_head.store(head, std::memory_order_release);
    return count;
  }

 private:
  static constexpr std::size_t ring_words = (std::size_t{1} << 20) / 8;
  std::atomic_ref<std::uint64_t> word(std::size_t place) {
    return std::atomic_ref<std::uint64_t>(m_words[place % ring_words]);
  }

  std::vector<std::uint64_t> m_words = std::vector<std::uint64_t>(ring_words);
  alignas(128) std::size_t m_tail = 0;
  std::size_t m_seen_head = 0;
  alignas(128) std::atomic<std::size_t> m_head{0};
};

connection open_raw() { return {std::make_shared<raw_ring>(), std::make_shared<raw_ring>()}; }

// ---- transports

class transport_direction final : public one_way_link, message_sink {
 public:
  transport_direction(std::shared_ptr<transport> sender, std::shared_ptr<transport> receiver)
      : m_sender(std::move(sender)), m_receiver(std::move(receiver)) {}
  bool try_send(bytes_view message) override {
    return m_sender->try_send(m_receiver->number(), message) == send_status::sent;
  }
  std::size_t receive() override { return m_receiver->receive(*this, 64); }

 private:
  void on_message(locality_number, bytes_view bytes) noexcept override { benchmark::DoNotOptimize(bytes.data()[0]); }
  void on_left(locality_number) noexcept override {}
  void on_lost(locality_number, std::string_view) noexcept override {}

  std::shared_ptr<transport> m_sender, m_receiver;
};

// open(number): opens one of two members; both are called at the same time.
template <class opener>
connection open_members(const opener& open) {
  opened_transport first, second;
  std::jthread other([&] { second = open(locality_number{1}); });
  first = open(locality_number{0});
  other.join();
  if (!first.link || !second.link) return {nullptr, nullptr, first.error + " " + second.error};
  const std::shared_ptr<transport> zero = std::move(first.link), one = std::move(second.link);
  return {std::make_shared<transport_direction>(zero, one), std::make_shared<transport_direction>(one, zero)};
}

connection open_shared_memory() {
  const int file = memfd_create("transport_bench", MFD_CLOEXEC);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  connection opened = open_members([&](locality_number number) { return open_shm({number, 2}, {path}); });
  close(file);
  return opened;
}

// A further transport needs one more line.
constexpr struct {
  const char* name;
  connection (*open)();
} links[] = {
    {"raw_ring", open_raw},
    {"shm", open_shared_memory},
};

// ---- what is measured

// A thread that does `work` until its end.
template <class function>
std::jthread repeat(const function& work) {
  return std::jthread([work](const std::stop_token& stop) {
    while (!stop.stop_requested()) work();
  });
}

// What the instructions cost without another processor: 64 messages are sent and then received. Needs no second CPU, so it
// is steady on busy machines. Time per message.
void one_thread(benchmark::State& state, connection (*open)()) {
  const connection opened = open();
  if (!opened.there) return state.SkipWithError(opened.error.c_str());
  const std::vector<std::byte> message(static_cast<std::size_t>(state.range(0)));
  while (state.KeepRunningBatch(64)) {
    for (int index = 0; index < 64; ++index)
      while (!opened.there->try_send(message)) continue;
    for (std::size_t received = 0; received < 64;) received += opened.there->receive();
  }
}

void one_way(benchmark::State& state, connection (*open)()) {
  const connection opened = open();
  if (!opened.there) return state.SkipWithError(opened.error.c_str());
  const std::vector<std::byte> message(static_cast<std::size_t>(state.range(0)));
  std::atomic<std::size_t> received{0};
  const std::jthread receiver = repeat([&] {
    if (const std::size_t count = opened.there->receive(); count != 0)
      received.store(received.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  });
  std::size_t sent = 0;
  for (auto iteration : state) {
    while (!opened.there->try_send(message)) continue;
    ++sent;
  }
  while (received.load(std::memory_order_relaxed) != sent) continue;
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void round_trip(benchmark::State& state, connection (*open)()) {
  const connection opened = open();
  if (!opened.there) return state.SkipWithError(opened.error.c_str());
  const std::vector<std::byte> message(static_cast<std::size_t>(state.range(0)));
  const std::jthread echo = repeat([&] {
    for (std::size_t count = opened.there->receive(); count > 0; --count)
      while (!opened.back->try_send(message)) continue;
  });
  for (auto iteration : state) {
    while (!opened.there->try_send(message)) continue;
    while (opened.back->receive() == 0) continue;
  }
}

void register_all() {
  for (const auto& link : links) {
    const std::string name = link.name;
    benchmark::RegisterBenchmark((name + "/one_thread").c_str(), one_thread, link.open)->Arg(16)->Arg(1024);
    benchmark::RegisterBenchmark((name + "/one_way").c_str(), one_way, link.open)
        ->Arg(16)
        ->Arg(1024)
        ->Arg(65536)
        ->UseRealTime();
    benchmark::RegisterBenchmark((name + "/round_trip").c_str(), round_trip, link.open)
        ->Arg(16)
        ->Arg(1024)
        ->Arg(65536)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace trimtab::parcels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  trimtab::parcels::register_all();
  benchmark::RunSpecifiedBenchmarks();
}

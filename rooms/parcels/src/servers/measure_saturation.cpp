#include "servers/measure_saturation.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "trimtab/base/clock.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"

namespace trimtab::parcels {
namespace {

constexpr std::size_t receive_limit = 64;
constexpr std::uint32_t looks_before_pause = 256;
constexpr std::uint64_t pause_ns = 200'000, leave_ns = 5'000'000'000;
using row_length = std::uint64_t;  // the first bytes of each message: of so many in a row

// Answers after each row.
class row_receiver final : message_sink {
 public:
  explicit row_receiver(transport& link) : m_link(link) {}
  void run() {
    for (std::uint32_t looks = 0; !m_is_over; ++looks) {
      if (m_link.receive(*this, receive_limit) != 0) looks = 0;
      if (looks > looks_before_pause)
        m_link.wait(pause_ns);
      else if (looks % 16 == 15)
        sched_yield();
    }
  }

 private:
  void on_message(locality_number from, bytes_view bytes) noexcept override {
    row_length length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (++m_received < length) return;
    m_received = 0;
    while (m_link.try_send(from, std::as_bytes(std::span(&length, 1))) == send_status::no_room) sched_yield();
  }
  void on_left(locality_number from) noexcept override { m_is_over = m_is_over || from == 0; }
  void on_lost(locality_number from, std::string_view) noexcept override { m_is_over = m_is_over || from == 0; }

  transport& m_link;
  row_length m_received = 0;
  bool m_is_over = false;
};

// Those that receive, as processes. They end with this object, or with this process.
class receiver_processes {
 public:
  receiver_processes(const member_opener& open, const membership& first) {
    for (locality_number number = 1; number < first.size; ++number) {
      const pid_t process = fork();
      if (process == 0) receive_and_exit(open, {number, first.size, first.secret, first.patience_ns});
      m_processes.push_back(process);
    }
  }
  ~receiver_processes() {
    for (const pid_t process : m_processes) {
      if (process <= 0) continue;
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }
  receiver_processes(const receiver_processes&) = delete;
  receiver_processes& operator=(const receiver_processes&) = delete;
  bool are_all_there() const {
    return std::ranges::all_of(m_processes, [](pid_t process) { return process > 0; });
  }

 private:
  [[noreturn]] static void receive_and_exit(const member_opener& open, const membership& self) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    opened_transport opened = open(self);
    if (opened.link == nullptr) _exit(1);
    row_receiver(*opened.link).run();
    opened.link->leave(leave_ns);
    _exit(0);
  }
  std::vector<pid_t> m_processes;
};

// Threads of locality 0 that send. Whoever waits receives for all.
class row_senders final : message_sink {
 public:
  explicit row_senders(transport& link) : m_link(link), m_answers(link.size()) {}

  // Messages a second, of all senders together; 0: a receiver is lost.
  double measure(const saturation_point& what, std::uint64_t ns) {
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint32_t> ready{0};
    std::uint64_t begin = 0;
    {
      std::vector<std::jthread> threads;
      threads.reserve(what.senders);
      for (std::uint32_t sender = 0; sender < what.senders; ++sender)
        threads.emplace_back([&, sender] {
          ready.fetch_add(1);
          while (ready.load() < what.senders + 1) sched_yield();
          messages.fetch_add(send_rows(sender + 1, what, ns));
        });
      while (ready.load() < what.senders) sched_yield();
      begin = base::monotonic_ns();
      ready.fetch_add(1);
    }
    const auto took_ns = static_cast<double>(base::monotonic_ns() - begin);
    return m_is_lost.load() ? 0 : static_cast<double>(messages.load()) / took_ns * 1e9;
  }

 private:
  std::uint64_t send_rows(locality_number to, const saturation_point& what, std::uint64_t ns) {
    const row_length length = what.in_flight;
    std::vector<std::byte> message(what.bytes);
    std::memcpy(message.data(), &length, sizeof length);
    const std::uint64_t begin = base::monotonic_ns();
    std::uint64_t sent = 0;
    do {
      const std::uint64_t answers = m_answers[to].load(std::memory_order_acquire);
      for (row_length i = 0; i < length; ++i)
        while (m_link.try_send(to, message) != send_status::sent && !m_is_lost.load(std::memory_order_relaxed)) look();
      for (std::uint32_t looks = 0; m_answers[to].load(std::memory_order_acquire) == answers; ++looks) {
        if (m_is_lost.load(std::memory_order_relaxed)) return sent;
        look();
        if (looks % 64 == 63) sched_yield();
      }
      sent += length;
    } while (base::monotonic_ns() - begin < ns);
    return sent;
  }
  void look() {
    if (!m_receiving.try_lock()) return;
    const std::lock_guard guard(m_receiving, std::adopt_lock);
    m_link.receive(*this, receive_limit);
  }
  void on_message(locality_number from, bytes_view) noexcept override {
    m_answers[from].fetch_add(1, std::memory_order_release);
  }
  void on_left(locality_number) noexcept override { m_is_lost.store(true); }
  void on_lost(locality_number, std::string_view) noexcept override { m_is_lost.store(true); }

  transport& m_link;
  std::vector<std::atomic<std::uint64_t>> m_answers;  // by locality
  base::spin_lock m_receiving;
  std::atomic<bool> m_is_lost{false};
};

// One point for each number of servers. Empty: a receiver is lost.
std::vector<saturation_point> measure_by_turns(row_senders& senders, served_transport& link, saturation_point what,
                                               const saturation_plan& plan) {
  std::vector<double> rates(plan.servers.size());
  for (std::uint32_t round = 0; round < plan.rounds; ++round)
    for (std::size_t i = 0; i < plan.servers.size(); ++i) {
      link.set(all_served(plan.servers[i]));
      const double rate = senders.measure(what, plan.ns_each);
      if (rate == 0 || !link.drain(leave_ns)) return {};
      rates[i] = std::max(rates[i], rate);
    }
  std::vector<saturation_point> points;
  for (std::size_t i = 0; i < plan.servers.size(); ++i) {
    what.servers = plan.servers[i];
    what.messages_per_s = rates[i];
    points.push_back(what);
  }
  return points;
}

measured_saturation measure_all(served_transport& link, const saturation_plan& plan) {
  row_senders senders(link);
  measured_saturation result{{link.name(), {}}, {}};
  for (const std::uint64_t bytes : plan.bytes)
    for (const std::uint32_t count : plan.senders)
      for (const std::uint32_t in_flight : plan.in_flight) {
        const auto points = measure_by_turns(senders, link, {bytes, count, in_flight, 0, 0}, plan);
        if (points.empty()) return {{}, "a process that receives has ended"};
        result.curve.points.insert(result.curve.points.end(), points.begin(), points.end());
      }
  return result;
}

std::vector<std::uint32_t> powers_of_two(std::uint32_t most) {
  std::vector<std::uint32_t> powers;
  for (std::uint32_t power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

}  // namespace

saturation_plan plan_for(std::uint32_t cpus) {
  constexpr std::uint32_t most_senders = 32, most_servers_tried = 4;
  saturation_plan plan;
  plan.bytes = {8, 64, 512, 4096, 32768};
  plan.senders = powers_of_two(std::clamp(cpus / 2, 1u, most_senders));
  plan.in_flight = {1, 4, 16, 128};
  plan.servers = powers_of_two(std::clamp(cpus / 4, 1u, most_servers_tried));
  plan.servers.insert(plan.servers.begin(), 0);
  return plan;
}

measured_saturation measure_saturation(const member_opener& open, const saturation_plan& plan) {
  constexpr std::uint64_t start_patience_ns = 20'000'000'000;
  const std::uint32_t size = std::ranges::max(plan.senders) + 1;
  const membership self{0, size, "saturation", start_patience_ns};
  const receiver_processes receivers(open, self);
  if (!receivers.are_all_there()) return {{}, "the system starts no further process"};
  opened_transport opened = open(self);
  if (opened.link == nullptr) return {{}, std::move(opened.error)};
  served_transport link(std::move(opened.link), all_served(0), places_beside_workers(size));
  measured_saturation result = measure_all(link, plan);
  link.leave(leave_ns);
  return result;
}

}  // namespace trimtab::parcels

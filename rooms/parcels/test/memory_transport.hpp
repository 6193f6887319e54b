// A transport between the threads of one process: queues behind a mutex, nothing else. For tests of what uses transports,
// and to test the contract itself.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport_contract.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

// One job; members share it.
struct memory_job {
  enum class presence : std::uint8_t { absent, member, left, lost };
  struct letter {
    locality_number from;
    presence end;  // member: a message
    std::vector<std::uint64_t> words;
    std::size_t size;
  };
  struct member_state {
    presence state = presence::absent;
    std::deque<letter> arrived = {};
    std::vector<std::size_t> bytes_from = {};
    bool must_wake = false;
  };

  explicit memory_job(std::uint32_t size) : members(size) {
    for (member_state& member : members) member.bytes_from.resize(size);
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<member_state> members;
  std::string secret;
  std::uint32_t joined = 0;
};

class memory_transport final : public transport {
 public:
  static constexpr std::size_t queue_bytes = std::size_t{1} << 20;

  memory_transport(std::shared_ptr<memory_job> job, locality_number number) : m_job(std::move(job)), m_number(number) {}
  ~memory_transport() override { end(memory_job::presence::lost); }

  locality_number number() const noexcept override { return m_number; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(m_job->members.size()); }
  const char* name() const noexcept override { return "one process"; }
  std::size_t largest_message() const noexcept override { return queue_bytes / 4; }
  std::string_view host_of(locality_number) const noexcept override { return "this host"; }
  std::int64_t process_of(locality_number) const noexcept override { return getpid(); }

  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override {
    memory_job::letter message = letter_of(parts);
    const std::scoped_lock lock(m_job->mutex);
    memory_job::member_state& receiver = m_job->members[to];
    if (receiver.state != memory_job::presence::member) return send_status::gone;
    if (receiver.bytes_from[m_number] + message.size > queue_bytes) return send_status::no_room;
    receiver.bytes_from[m_number] += message.size;
    receiver.arrived.push_back(std::move(message));
    wake_locked(to);
    return send_status::sent;
  }

  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override {
    std::size_t count = 0;
    std::unique_lock lock(m_job->mutex);
    std::deque<memory_job::letter>& arrived = self().arrived;
    while (!arrived.empty() && (count < limit || arrived.front().end != memory_job::presence::member)) {
      const memory_job::letter message = std::move(arrived.front());
      arrived.pop_front();
      self().bytes_from[message.from] -= message.size;
      wake_locked(message.from);
      lock.unlock();
      count += deliver(message, sink);
      lock.lock();
    }
    return count;
  }

  void wait(std::uint64_t ns) noexcept override {
    std::unique_lock lock(m_job->mutex);
    m_job->changed.wait_for(lock, std::chrono::nanoseconds(ns), [&] { return self().must_wake || !self().arrived.empty(); });
    self().must_wake = false;
  }
  void wake() noexcept override {
    const std::scoped_lock lock(m_job->mutex);
    wake_locked(m_number);
  }
  bool leave(std::uint64_t) noexcept override {
    end(memory_job::presence::left);
    return true;
  }

 private:
  memory_job::member_state& self() noexcept { return m_job->members[m_number]; }

  void wake_locked(locality_number member) noexcept {
    m_job->members[member].must_wake = true;
    m_job->changed.notify_all();
  }

  memory_job::letter letter_of(std::span<const bytes_view> parts) const {
    std::size_t size = 0;
    for (const bytes_view part : parts) size += part.size();
    memory_job::letter message{m_number, memory_job::presence::member, std::vector<std::uint64_t>(size / 8 + 1), size};
    auto* place = reinterpret_cast<std::byte*>(message.words.data());
    for (const bytes_view part : parts) {
      if (!part.empty()) std::memcpy(place, part.data(), part.size());
      place += part.size();
    }
    return message;
  }

  static std::size_t deliver(const memory_job::letter& message, message_sink& sink) {
    if (message.end == memory_job::presence::left) return sink.on_left(message.from), 0;
    if (message.end == memory_job::presence::lost) return sink.on_lost(message.from, "its transport was destroyed"), 0;
    sink.on_message(message.from, {reinterpret_cast<const std::byte*>(message.words.data()), message.size});
    return 1;
  }

  void end(memory_job::presence state) noexcept {
    const std::scoped_lock lock(m_job->mutex);
    if (self().state != memory_job::presence::member) return;
    self().state = state;
    for (locality_number other = 0; other < m_job->members.size(); ++other) {
      if (other == m_number) continue;
      m_job->members[other].arrived.push_back({m_number, state, {}, 0});
      wake_locked(other);
    }
  }

  std::shared_ptr<memory_job> m_job;
  locality_number m_number;
};

class memory_meeting final : public meeting_point {
 public:
  explicit memory_meeting(std::uint32_t size) : m_job(std::make_shared<memory_job>(size)) {}

  opened_transport open(const membership& self) override {
    std::unique_lock lock(m_job->mutex);
    if (self.size != m_job->members.size()) return {nullptr, "another size of the job"};
    if (m_job->joined == 0) m_job->secret = self.secret;
    if (self.secret != m_job->secret) return {nullptr, "another secret"};
    m_job->members[self.number].state = memory_job::presence::member;
    ++m_job->joined;
    m_job->changed.notify_all();
    if (!m_job->changed.wait_for(lock, std::chrono::nanoseconds(self.patience_ns),
                                 [&] { return m_job->joined == m_job->members.size(); }))
      return {nullptr, "locality " + std::to_string(first_absent()) + " did not come"};
    return {std::make_unique<memory_transport>(m_job, self.number), {}};
  }

 private:
  std::size_t first_absent() const {
    std::size_t number = 0;
    while (m_job->members[number].state != memory_job::presence::absent) ++number;
    return number;
  }

  std::shared_ptr<memory_job> m_job;
};

inline transport_kind memory_kind() {
  transport_kind kind;
  kind.name = "memory";
  kind.new_meeting = [](std::uint32_t size) { return std::make_unique<memory_meeting>(size); };
  kind.can_fork = false;
  return kind;
}

}  // namespace trimtab::parcels

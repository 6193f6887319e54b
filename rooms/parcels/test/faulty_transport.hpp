// A transport over another one that behaves as badly as the contract permits: it refuses messages although there is room,
// and delivers late and in another order between senders (never within a pair). For tests of what uses transports.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport_contract.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {

struct faults {
  std::uint64_t seed = 1;
  std::uint64_t refusals_percent = 20;  // of calls of try_send
  std::uint64_t delays_percent = 50;    // of the times that a sender's messages could be delivered
  std::size_t most_held = 100;          // messages held back
};

class faulty_transport final : public transport {
 public:
  faulty_transport(std::unique_ptr<transport> inner, const faults& plan)
      : m_inner(std::move(inner)),
        m_plan(plan),
        m_receive_random(plan.seed + 1000 * m_inner->number()),
        m_held(m_inner->size()),
        m_has_ended(m_inner->size()) {
    for (locality_number to = 0; to < m_inner->size(); ++to) m_send_random.emplace_back(plan.seed ^ base::mix(to));
  }

  locality_number number() const noexcept override { return m_inner->number(); }
  std::uint32_t size() const noexcept override { return m_inner->size(); }
  const char* name() const noexcept override { return m_inner->name(); }
  std::size_t largest_message() const noexcept override { return m_inner->largest_message(); }
  std::string_view host_of(locality_number other) const noexcept override { return m_inner->host_of(other); }
  std::int64_t process_of(locality_number other) const noexcept override { return m_inner->process_of(other); }

  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override {
    if (m_has_ended[to] || m_send_random[to].below(100) >= m_plan.refusals_percent) return m_inner->try_send(to, parts);
    m_has_refused = true;
    m_inner->wake();  // a thread that waits already: there is room, after all
    return send_status::no_room;
  }

  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override {
    holder arrived(*this);
    if (m_held_count < m_plan.most_held) m_inner->receive(arrived, m_plan.most_held - m_held_count);
    std::size_t count = 0;
    const std::size_t first = m_receive_random.below(m_held.size());
    for (std::size_t place = 0; place < m_held.size(); ++place) {
      const auto from = static_cast<locality_number>((first + place) % m_held.size());
      while (!m_held[from].empty() && m_receive_random.below(100) >= m_plan.delays_percent) {
        if (m_held[from].front().what == event::kind::message && count == limit) break;
        count += deliver_next(from, sink);
      }
    }
    if (m_held_count != 0) m_inner->wake();  // a thread that waits already does not know of what is held here
    return count;
  }

  void wait(std::uint64_t ns) noexcept override {
    if (m_held_count == 0 && !m_has_refused.exchange(false)) m_inner->wait(ns);
  }
  void wake() noexcept override { m_inner->wake(); }
  bool leave(std::uint64_t ns) noexcept override { return m_inner->leave(ns); }

 private:
  struct event {
    enum class kind : std::uint8_t { message, left, lost };
    kind what;
    std::vector<std::uint64_t> words;
    std::size_t size;
    std::string reason;
  };

  struct holder final : message_sink {
    explicit holder(faulty_transport& owner) : m_owner(owner) {}
    void on_message(locality_number from, bytes_view bytes) noexcept override {
      std::vector<std::uint64_t> words(bytes.size() / 8 + 1);
      std::memcpy(words.data(), bytes.data(), bytes.size());
      m_owner.hold(from, {event::kind::message, std::move(words), bytes.size(), {}});
    }
    void on_left(locality_number from) noexcept override { m_owner.hold(from, {event::kind::left, {}, 0, {}}); }
    void on_lost(locality_number from, std::string_view reason) noexcept override {
      m_owner.hold(from, {event::kind::lost, {}, 0, std::string(reason)});
    }
    faulty_transport& m_owner;
  };

  void hold(locality_number from, event next) {
    if (next.what != event::kind::message) m_has_ended[from] = true;
    m_held[from].push_back(std::move(next));
    ++m_held_count;
  }

  std::size_t deliver_next(locality_number from, message_sink& sink) {
    const event next = std::move(m_held[from].front());
    m_held[from].pop_front();
    --m_held_count;
    if (next.what == event::kind::left) return sink.on_left(from), 0;
    if (next.what == event::kind::lost) return sink.on_lost(from, next.reason), 0;
    sink.on_message(from, {reinterpret_cast<const std::byte*>(next.words.data()), next.size});
    return 1;
  }

  std::unique_ptr<transport> m_inner;
  faults m_plan;
  std::vector<test_random> m_send_random;  // one per receiver: calls for different receivers may be at the same time
  test_random m_receive_random;
  std::vector<std::deque<event>> m_held;       // by sender
  std::vector<std::atomic<bool>> m_has_ended;  // no refusal hides from a sender that its receiver is gone
  std::atomic<std::size_t> m_held_count{0};
  std::atomic<bool> m_has_refused{false};
};

// The same kind of transport, with faults.
inline transport_kind with_faults(transport_kind kind, const faults& plan) {
  struct faulty_meeting final : meeting_point {
    faulty_meeting(std::unique_ptr<meeting_point> inner, const faults& plan_of_all)
        : m_inner(std::move(inner)), m_plan(plan_of_all) {}
    opened_transport open(const membership& self) override {
      opened_transport opened = m_inner->open(self);
      if (opened.link) opened.link = std::make_unique<faulty_transport>(std::move(opened.link), m_plan);
      return opened;
    }
    std::unique_ptr<meeting_point> m_inner;
    faults m_plan;
  };
  kind.name += "_with_faults";
  kind.new_meeting = [inner = kind.new_meeting, plan](std::uint32_t size) {
    return std::make_unique<faulty_meeting>(inner(size), plan);
  };
  return kind;
}

}  // namespace trimtab::parcels

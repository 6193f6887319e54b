// Parcels that wait to be sent as one message to one locality. Not thread-safe: an outbox guards it.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/calls/action.hpp"
#include "trimtab/parcels/coalescing/message_format.hpp"

namespace trimtab::parcels {

// A parcel to be sent.
struct outgoing {
  const action& what;
  bool has_call = false;
  std::uint64_t call = 0;
  bytes_view arguments = {};
  std::uint64_t trace = 0;  // its number in the trace of this process; 0: it is not traced
};

// Who queues a parcel.
struct parcel_adder {
  std::uint64_t identity = 0;  // different for threads that exist at the same time; not 0
  std::uint64_t looks = 0;     // how often the thread has looked for other work
  bool is_task = false;        // of a runtime of tasks
};

class parcel_queue {
 public:
  parcel_queue() { m_message.resize(sizeof(message_header)); }

  void add(const outgoing& parcel, const parcel_adder& adder);

  // Makes sure that the receiver knows the action, once this queue's message has arrived.
  void define(const action& what);

  bool is_empty() const noexcept { return m_parcels == 0; }
  // Without those that define actions.
  std::uint32_t parcels() const noexcept { return m_parcels - m_definitions; }
  std::size_t bytes() const noexcept { return m_message.size(); }  // of the message, with its header
  base::ticks oldest() const noexcept { return m_oldest; }         // when it was added
  std::uint64_t last_adder() const noexcept { return m_last.identity; }
  // `message_ns`: what a message costs. To be called before a parcel is added to the empty queue.
  void expect_first(const parcel_adder& adder, base::ticks current_time, double ns_per_tick, std::uint64_t message_ns);
  // Sending takes time, which is none between parcels.
  void note_sent(base::ticks current_time) noexcept { m_last_event = current_time; }
  // The queue is sent for this reason. Learns from it what parcels cost, and whether more follow.
  void learn(base::ticks current_time, double ns_per_tick, flush_reason why) noexcept;
  std::uint64_t parcel_ns() const noexcept { return m_parcel_ns; }  // to queue one, in a burst
  burst_forecast& forecast() noexcept { return m_forecast; }
  const burst_forecast& forecast() const noexcept { return m_forecast; }

  // The message, with its header filled in. Valid until the queue changes.
  bytes_view message(std::uint64_t handled) noexcept;
  std::vector<std::byte> take_message(std::uint64_t handled);
  void clear() noexcept;
  // Numbers in the trace of the parcels that are traced.
  const std::vector<std::uint64_t>& traced() const noexcept { return m_traced; }

  // When somebody began to wait for what is in here; 0: nobody does.
  base::ticks awaited_since = 0;
  std::uint32_t batch = 1;         // batch_of, when the first parcel came
  std::uint32_t traffic_kind = 0;  // the same

 private:
  void append(const void* bytes, std::size_t count);

  std::vector<std::byte> m_message;
  std::vector<std::uint64_t> m_traced;
  std::uint32_t m_parcels = 0, m_definitions = 0;  // m_parcels: with definitions
  parcel_adder m_last;
  base::ticks m_oldest = 0, m_last_event = 0;
  std::uint64_t m_parcel_ns = 50;
  burst_forecast m_forecast;
  std::vector<bool> m_is_defined;  // by number: the receiver knows it from this queue's messages
};

// What the parcel that defines an action holds.
struct action_definition {
  std::uint32_t number = 0, reserved = 0;
  function_address kind, function;
  std::uint64_t signature = 0;
};

// Of a parcel too long to wait in a queue: what comes before its arguments.
std::vector<std::byte> head_of(const outgoing& parcel);

}  // namespace trimtab::parcels

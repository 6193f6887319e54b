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
};

class parcel_queue {
 public:
  parcel_queue() { m_message.resize(sizeof(message_header)); }

  void add(const outgoing& parcel, std::uint64_t adder);

  // Makes sure that the receiver knows the action, once this queue's message has arrived.
  void define(const action& what);

  bool is_empty() const noexcept { return m_parcels == 0; }
  std::uint32_t parcels() const noexcept { return m_parcels; }
  std::size_t bytes() const noexcept { return m_message.size(); }  // of the message, with its header
  base::ticks oldest() const noexcept { return m_oldest; }         // when it was added
  std::uint64_t last_adder() const noexcept { return m_last_adder; }

  // The message, with its header filled in. Valid until the queue changes.
  bytes_view message(std::uint64_t handled) noexcept;
  std::vector<std::byte> take_message(std::uint64_t handled);
  void clear() noexcept;

  // When somebody began to wait for what is in here; 0: nobody does.
  base::ticks awaited_since = 0;

 private:
  void append(const void* bytes, std::size_t count);

  std::vector<std::byte> m_message;
  std::uint32_t m_parcels = 0;
  std::uint64_t m_last_adder = 0;
  base::ticks m_oldest = 0;
  std::vector<bool> m_is_defined;  // by number: the receiver knows it from this queue's messages
};

// What the parcel that defines an action holds.
struct action_definition {
  std::uint32_t number = 0, reserved = 0;
  function_address kind, function;
  std::uint64_t signature = 0;
};

// A parcel too long to wait in a queue: its header and call number, then its arguments.
std::vector<std::byte> head_of(const outgoing& parcel);

}  // namespace trimtab::parcels

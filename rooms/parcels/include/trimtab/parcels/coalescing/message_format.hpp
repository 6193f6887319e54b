// The bytes of messages between localities. All of them run the same program on machines of one byte order.
//
//   message  = message_header, then
//              whole:     `parcels` parcels
//              fragment:  fragment_header, then bytes of a parcel that is too long for one message
//   parcel   = parcel_header, then `bytes` bytes: a call number of 8 bytes if has_call is set, then the number of the parcel
//              in the sender's trace, 8 bytes, if has_trace is set, then the arguments
//
// A message without parcels only says what its sender has handled.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::parcels {

struct message_header {
  enum class content : std::uint16_t { whole = 0x7431, fragment = 0x7432 };
  content kind = content::whole;
  std::uint16_t reserved = 0;
  std::uint32_t parcels = 0;
  // How many messages with parcels from the receiver the sender has handled since the start.
  std::uint64_t handled = 0;
};
static_assert(sizeof(message_header) == 16);

struct fragment_header {
  std::uint64_t total = 0;   // bytes of the whole parcel with its header
  std::uint64_t offset = 0;  // of this fragment
};
static_assert(sizeof(fragment_header) == 16);

struct parcel_header {
  static constexpr std::uint32_t has_call = 1u << 31, has_trace = 1u << 30;
  std::uint32_t bytes = 0;
  // The sender's number for the action, has_call and has_trace.
  std::uint32_t action = 0;
};
static_assert(sizeof(parcel_header) == 8);

// The action that tells the receiver which function a number of the sender's stands for.
inline constexpr std::uint32_t definition_action = 0;

// What may stand between a parcel's header and its arguments.
inline constexpr std::size_t most_parcel_numbers = 2 * sizeof(std::uint64_t);

// What is longer does not wait in a queue: it is sent by itself, in fragments if need be.
inline constexpr std::size_t longest_queued_parcel = 16 << 10;

}  // namespace trimtab::parcels

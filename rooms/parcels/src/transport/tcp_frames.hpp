// What goes through a connection: frames of a header and a body, padded so that each frame begins at a multiple of 8 bytes.
// All numbers are little-endian.
//
//     | body bytes: u32 | kind: u32 | body ... | zeros up to a multiple of 8 |
//
// Between members, once the job has started, only `message` and `leaving` come. The others belong to the start:
//
//     caller                                   acceptor
//     hello (nonce)               ->
//                                 <-           challenge (nonce)
//     proof (claim, code)         ->
//                                 <-           welcome (code), or refusal
//
// and then, from and to locality 0 alone: its `members`, their `ready`, its `start`; `failure`, with a text, instead of any.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trimtab::parcels::tcp {

static_assert(std::endian::native == std::endian::little, "structures are copied into frames as they are");

// The upper half is always the same, so that bytes which are no frame are noticed.
enum class frame_kind : std::uint32_t {
  message = 0x54540001,
  leaving,
  hello,
  challenge,
  proof,
  welcome,
  refusal,
  members,
  ready,
  start,
  failure,
};

struct frame_header {
  std::uint32_t body_bytes;
  frame_kind kind;
};
static_assert(sizeof(frame_header) == 8);

constexpr std::size_t frame_alignment = 8;
constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + frame_alignment - 1) / frame_alignment * frame_alignment;
}
constexpr std::size_t frame_bytes(std::size_t body) noexcept { return sizeof(frame_header) + padded(body); }

using nonce = std::array<std::byte, 16>;

// Changes with every change of what goes through a connection, so versions that do not understand each other say so.
constexpr std::uint64_t protocol_version = 0x31'20'62'61'74'6d'69'72;  // "rimtab 1"

struct hello_body {
  std::uint64_t version;
  nonce drawn;
};

struct challenge_body {
  nonce drawn;
};

// What a connection is for.
enum class purpose : std::uint32_t {
  join = 1,  // to locality 0: the caller is there, and asks for the addresses of all
  link = 2,  // to another locality: nothing but messages follow
};

// What a caller says of itself. All of it is authenticated.
struct member_claim {
  std::uint32_t number;
  std::uint32_t job_size;
  purpose reason;
  std::uint32_t acceptor;  // the locality that it wants to speak to
  std::uint64_t largest_message;
  std::uint64_t patience_ns;  // it waits so long for the others from now on
  std::int64_t process;
  std::uint16_t port;  // where it listens
  std::uint16_t is_ipv6;
  std::uint32_t reserved;
  std::array<std::byte, 16> address;
  std::array<char, 64> host;  // its name, cut off, with zeros behind it
};
static_assert(sizeof(member_claim) == 128);

struct proof_body {
  member_claim claim;
  std::array<std::byte, 16> code;
};

struct welcome_body {
  std::array<std::byte, 16> code;
};

// Why a caller is turned away although it speaks the protocol.
enum class refusal_reason : std::uint32_t { version = 1, secret, locality, job_size, number, largest_message };

struct refusal_body {
  refusal_reason reason;
  std::uint32_t reserved;
  std::uint64_t expected;  // what the acceptor has instead, where it is a number
};

template <typename Body>
std::span<const std::byte> bytes_of(const Body& body) noexcept {
  return std::as_bytes(std::span(&body, 1));
}

}  // namespace trimtab::parcels::tcp

// Which messages go through communication servers. Pure: plain numbers, so that they can be measured, kept and tuned.
//
// A server adds latency to a single message, and helps where many small ones are sent at once. So messages are selected by
// size and number, as in THOR, a runtime for UPC.
//
// By number: of messages that a thread sends in a row. How long a row will be is taken from the row before, so that a row is
// sent in one way from its first message on: a few messages sent directly before the others would cost both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trimtab::parcels {

// Which messages of some sizes servers send.
struct served_sizes {
  // Those that are longer than the ones of the entry before, up to this, in bytes: a power of two up to 64 KiB.
  std::size_t largest_bytes = 4096;
  std::uint32_t servers = 64;        // at most so many of them, 0 to 64; 0: the client sends them
  std::uint32_t least_messages = 5;  // in rows of so many or more, 1 to 2^20; 1: every message
  bool operator==(const served_sizes&) const = default;
};

struct server_settings {
  static constexpr std::uint32_t most_servers = 64;
  static constexpr std::uint32_t most_consecutive = 10;
  static constexpr std::size_t most_served_bytes = std::size_t{64} << 10;
  static constexpr std::uint32_t most_messages = 1u << 20;
  static constexpr std::uint64_t longest_pause_ns = 1'000'000'000;

  // Threads that send for others, 0 to 64. 0: everybody sends for themselves.
  std::uint32_t servers = 0;
  // Messages for one locality that one server gets before the next one does, 1 to 10. With keeps_order the server of a
  // locality changes only while none of its messages waits.
  std::uint32_t consecutive = 4;
  // Whether a client sends by itself what its server has no room for, as far as the order permits.
  bool clients_stay_active = true;
  // Flow control: messages for one locality that may wait in servers, 1 to 2^20.
  std::uint32_t most_under_way = 128;
  // By size, ascending. What is longer than the last is sent by the client.
  std::vector<served_sizes> selection = std::vector<served_sizes>(1);
  // Messages of one thread are in a row if the pause between two is at most this, up to 1 s.
  std::uint64_t longest_pause_in_row_ns = 2'000;
  // How long a server without work looks for more before it sleeps, up to 1 s. Costs its CPU.
  std::uint64_t looks_before_sleep_ns = 20'000;
  // Messages from this locality to another arrive in the order in which they were sent, as the port of transports
  // promises. Without it, messages for one locality may overtake each other.
  bool keeps_order = true;

  bool operator==(const server_settings&) const = default;
};

// All messages of up to so many bytes through so many servers.
server_settings all_served(std::uint32_t servers, std::size_t largest_bytes = server_settings::most_served_bytes);

// The largest message that a server may get; 0: none.
std::size_t largest_served(const server_settings& settings) noexcept;

// What is wrong, as a sentence with name, allowed values and value; empty: nothing.
std::string problem_of(const server_settings& settings);

}  // namespace trimtab::parcels

// What a process knows of itself when it meets others, and what it tells them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/tcp_frames.hpp"
#include "transport/tcp_siphash.hpp"
#include "transport/tcp_socket.hpp"
#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels::tcp {

struct identity {
  locality_number number = 0;
  std::uint32_t job_size = 1;
  std::uint64_t largest_message = 0;
  siphash_key key{};
  member_claim claim{};  // but for `reason`, `acceptor` and `patience_ns`, which belong to one connection
};

// All of it but where it listens.
identity describe_self(const membership& self, std::size_t largest_message);
void set_listener(member_claim& claim, const socket_address& address) noexcept;

socket_address listener_of(const member_claim& claim) noexcept;
// Without characters that could harm a terminal.
std::string printable(std::string_view text);
std::string host_name_of(const member_claim& claim);
std::string process_text(const member_claim& claim);  // "process 12 on host a"
std::string duration_text(std::uint64_t ns);          // "60 s", "250 ms"

}  // namespace trimtab::parcels::tcp

// Messages through TCP sockets, one connection for each pair of localities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

struct tcp_options {
  // Where members meet: locality 0 listens there, the others ask it for the addresses of all. A numeric address; port 0
  // is not possible here.
  std::string meeting_address = "127.0.0.1";
  std::uint16_t meeting_port = 0;
  // A listening socket that the launcher has bound to the meeting address already, for locality 0, which takes it over and
  // closes it; -1: it binds its own.
  int meeting_socket = -1;
  // Where this locality listens for others. Only that address can reach it.
  std::string listen_address = "127.0.0.1";
  std::size_t largest_message = std::size_t{1} << 20;
  // For tests: at most so many bytes in one system call that writes; 0: no limit.
  std::size_t write_limit = 0;
};

// Returns when all members are connected. Errors: address or port in use, a member that did not come (named by its number),
// a member with another secret or another size of the job. Strangers that connect without the secret are turned away, and
// the job starts none the less.
opened_transport open_tcp(const membership& self, const tcp_options& options);

}  // namespace trimtab::parcels

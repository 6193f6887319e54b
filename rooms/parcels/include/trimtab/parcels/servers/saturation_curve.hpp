// What messages of a size cost with and without communication servers, as measured on a machine; and which servers are
// worth their CPUs there. Pure, but for the two functions with files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trimtab/parcels/servers/server_settings.hpp"

namespace trimtab::parcels {

// One measurement. All numbers are above 0, but servers may be 0: the senders send for themselves.
struct saturation_point {
  std::uint64_t bytes = 0;      // of a message
  std::uint32_t senders = 0;    // threads that send at once
  std::uint32_t in_flight = 0;  // messages that each of them sends in a row
  std::uint32_t servers = 0;
  double messages_per_s = 0;

  double bytes_per_s() const noexcept { return messages_per_s * static_cast<double>(bytes); }
  bool operator==(const saturation_point&) const = default;
};

// All measurements of one transport on one machine.
struct saturation_curve {
  std::string transport = {};  // one line, as name() of the transport
  std::vector<saturation_point> points = {};
  bool operator==(const saturation_curve&) const = default;
};

// The text of a file: a line with the version, one with the transport, one with the names of the columns, then one line for
// each point.
std::string text_of(const saturation_curve& curve);

struct parsed_curve {
  saturation_curve curve = {};
  std::string error = {};  // "FILE:LINE: expected ..., found ..."; empty: there is none
};
parsed_curve parse_curve(const std::string& text, const std::string& file);
parsed_curve read_curve(const std::string& file);
// Whole or not at all. Returns what has failed; empty: nothing.
std::string write_curve(const saturation_curve& curve, const std::string& file);

// Servers for a process with so many senders and CPUs that nothing else uses. For each size that was measured, and the sizes
// between it and the one below: so many servers, and in rows of so many messages, that all measurements of the nearest
// number of senders that is not higher were at least 5 % faster than without; of these the choice that gains most. No such
// choice for any size: 0 servers. The other settings are those of `standard`.
server_settings choose_servers(const saturation_curve& curve, std::uint32_t free_cpus, std::uint32_t senders,
                               const server_settings& standard = {});

}  // namespace trimtab::parcels

// Measures what messages cost with and without communication servers, between processes of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trimtab/parcels/servers/saturation_curve.hpp"
#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

// Each of these with each other one.
struct saturation_plan {
  std::vector<std::uint64_t> bytes = {};  // of a message, at least 8
  std::vector<std::uint32_t> senders = {}, in_flight = {};
  std::vector<std::uint32_t> servers = {};  // 0 among them
  std::uint64_t ns_each = 4'000'000;
  std::uint32_t rounds = 5;  // the best of so many, since others only make it slower; in each, all numbers of servers
};
// For a machine with so many CPUs: at most half of them send.
saturation_plan plan_for(std::uint32_t cpus);

struct measured_saturation {
  saturation_curve curve = {};
  std::string error = {};  // a sentence; empty: none
};

// Opens one member of a job.
using member_opener = std::function<opened_transport(const membership& self)>;

// Each sender has a locality of its own to send to, in a process of its own, which are forked: call it while the process has
// no other threads. Sends rows of `in_flight` messages, and waits for the receiver's answer after each.
measured_saturation measure_saturation(const member_opener& open, const saturation_plan& plan);

}  // namespace trimtab::parcels

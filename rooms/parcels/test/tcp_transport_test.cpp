// TCP passes the contract of transports, also where the kernel takes few bytes at a time, and where messages come late.
#include "faulty_transport.hpp"
#include "tcp_meeting.hpp"

namespace trimtab::parcels {
namespace {

transport_kind tcp_kind(const std::string& name, const tcp_options& options) {
  return {.name = name, .new_meeting = [options](std::uint32_t) { return std::make_unique<tcp_meeting>(options); }};
}

tcp_options short_writes(std::size_t write_limit) {
  tcp_options options;
  options.largest_message = 50'000;
  options.write_limit = write_limit;
  return options;
}

tcp_options ipv6() {
  tcp_options options;
  options.meeting_address = options.listen_address = "::1";
  return options;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(tcp, transport_contract,
                         ::testing::Values(tcp_kind("plain", {}), tcp_kind("short_writes", short_writes(1'000)),
                                           tcp_kind("ipv6", ipv6()), with_faults(tcp_kind("plain", {}), {})),
                         kind_name);

}  // namespace trimtab::parcels

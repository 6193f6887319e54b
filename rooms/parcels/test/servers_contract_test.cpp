// Transports with communication servers keep the contract of transports. Those that refuse at random are in
// servers_transport_test.cpp, with fewer messages: a server that is refused pauses.
#include "memory_transport.hpp"
#include "servers_helpers.hpp"
#include "shm_meeting.hpp"

namespace trimtab::parcels {

INSTANTIATE_TEST_SUITE_P(servers, transport_contract,
                         ::testing::Values(with_servers(memory_kind(), all_through_servers(1)),
                                           with_servers(memory_kind(), all_through_servers(2)),
                                           with_servers(shm_kind("shm", std::size_t{1} << 20), all_through_servers(1)),
                                           with_servers(shm_kind("shm", std::size_t{1} << 20), all_through_servers(2))),
                         kind_name);

}  // namespace trimtab::parcels

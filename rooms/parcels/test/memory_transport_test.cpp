#include "memory_transport.hpp"

#include "transport_contract.hpp"

namespace trimtab::parcels {

INSTANTIATE_TEST_SUITE_P(memory, transport_contract, ::testing::Values(memory_kind()), kind_name);

}  // namespace trimtab::parcels

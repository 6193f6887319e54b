// How two processes prove to each other that they know the job's secret, without telling it: each answers the other's number
// that is used once. A code covers both numbers, the role of the one that proves and all that the caller says of itself, so
// it fits no other connection, and neither side's code can be sent back to it. It keeps out who does not know the secret; it
// does not protect against somebody who can change what is on the wire.
#pragma once

#include <string_view>

#include "transport/tcp_frames.hpp"
#include "transport/tcp_siphash.hpp"

namespace trimtab::parcels::tcp {

siphash_key derive_key(std::string_view secret) noexcept;

struct drawn_nonces {
  nonce caller;
  nonce acceptor;
};

siphash_code caller_code(const siphash_key& key, const drawn_nonces& nonces, const member_claim& claim) noexcept;
siphash_code acceptor_code(const siphash_key& key, const drawn_nonces& nonces, const member_claim& claim) noexcept;

// False: the kernel has no random bytes.
bool draw(nonce& drawn) noexcept;

}  // namespace trimtab::parcels::tcp

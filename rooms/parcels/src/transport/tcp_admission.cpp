#include "transport/tcp_admission.hpp"

#include <sys/random.h>

namespace trimtab::parcels::tcp {

namespace {

// Roles, as words that differ in what is authenticated.
constexpr std::uint64_t caller_role = 1;
constexpr std::uint64_t acceptor_role = 2;

struct authenticated_bytes {
  std::uint64_t role;
  drawn_nonces nonces;
  member_claim claim;
};
static_assert(sizeof(authenticated_bytes) == 8 + 32 + sizeof(member_claim), "no byte between the fields may be undefined");

siphash_code code_of(const siphash_key& key, std::uint64_t role, const drawn_nonces& nonces,
                     const member_claim& claim) noexcept {
  const authenticated_bytes bytes{role, nonces, claim};
  return siphash(key, bytes_of(bytes));
}

}  // namespace

// The secret is random and may have any length; a key has 16 bytes, and is used for nothing else.
siphash_key derive_key(std::string_view secret) noexcept {
  siphash_key constant;
  for (std::size_t i = 0; i < constant.size(); ++i) constant[i] = static_cast<std::byte>("trimtab parcels "[i]);
  return siphash(constant, std::as_bytes(std::span(secret)));
}

siphash_code caller_code(const siphash_key& key, const drawn_nonces& nonces, const member_claim& claim) noexcept {
  return code_of(key, caller_role, nonces, claim);
}

siphash_code acceptor_code(const siphash_key& key, const drawn_nonces& nonces, const member_claim& claim) noexcept {
  return code_of(key, acceptor_role, nonces, claim);
}

bool draw(nonce& drawn) noexcept { return getrandom(drawn.data(), drawn.size(), 0) == static_cast<ssize_t>(drawn.size()); }

}  // namespace trimtab::parcels::tcp

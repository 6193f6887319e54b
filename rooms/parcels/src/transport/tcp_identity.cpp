#include "transport/tcp_identity.hpp"

#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "transport/tcp_admission.hpp"

namespace trimtab::parcels::tcp {

identity describe_self(const membership& self, std::size_t largest_message) {
  identity described;
  described.number = self.number;
  described.job_size = self.size;
  described.largest_message = largest_message;
  described.key = derive_key(self.secret);
  described.claim.number = self.number;
  described.claim.job_size = self.size;
  described.claim.largest_message = largest_message;
  described.claim.process = getpid();
  gethostname(described.claim.host.data(), described.claim.host.size());
  described.claim.host.back() = '\0';
  return described;
}

void set_listener(member_claim& claim, const socket_address& address) noexcept {
  claim.port = address.port();
  claim.is_ipv6 = address.storage.ss_family == AF_INET6 ? 1 : 0;
  claim.address = {};
  if (claim.is_ipv6 != 0)
    std::memcpy(claim.address.data(), &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr, sizeof(in6_addr));
  else
    std::memcpy(claim.address.data(), &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr, sizeof(in_addr));
}

socket_address listener_of(const member_claim& claim) noexcept {
  socket_address address;
  if (claim.is_ipv6 != 0) {
    auto& ipv6 = *reinterpret_cast<sockaddr_in6*>(&address.storage);
    ipv6.sin6_family = AF_INET6;
    std::memcpy(&ipv6.sin6_addr, claim.address.data(), sizeof(in6_addr));
    address.length = sizeof ipv6;
  } else {
    auto& ipv4 = *reinterpret_cast<sockaddr_in*>(&address.storage);
    ipv4.sin_family = AF_INET;
    std::memcpy(&ipv4.sin_addr, claim.address.data(), sizeof(in_addr));
    address.length = sizeof ipv4;
  }
  address.set_port(claim.port);
  return address;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return clean;
}

std::string host_name_of(const member_claim& claim) {
  return printable(std::string_view(claim.host.data(), strnlen(claim.host.data(), claim.host.size())));
}

std::string process_text(const member_claim& claim) {
  return "process " + std::to_string(claim.process) + " on host " + host_name_of(claim);
}

std::string duration_text(std::uint64_t ns) {
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  const std::uint64_t ms = (ns + ns_per_ms / 2) / ns_per_ms;
  if (ms > 10'000) return std::to_string((ms + 500) / 1000) + " s";
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace trimtab::parcels::tcp

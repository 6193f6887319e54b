// The name of an object that all localities of a job can reach. A small value; it can be sent, and outlive its object.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "trimtab/base/hash.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

struct global_id {
  static constexpr locality_number nowhere = ~locality_number{0};

  locality_number home = nowhere;  // where the object was created, and where its requests go
  std::uint32_t generation = 0;    // how often the number was used there: an old name does not fit a new object
  std::uint64_t number = 0;        // among the objects of that locality

  bool is_empty() const noexcept { return home == nowhere; }
  auto operator<=>(const global_id&) const = default;
};

// "object 7 (generation 2) of locality 3", or "no object".
std::string to_string(const global_id& id);
std::ostream& operator<<(std::ostream& out, const global_id& id);

}  // namespace trimtab::parcels

template <>
struct std::hash<trimtab::parcels::global_id> {
  std::size_t operator()(const trimtab::parcels::global_id& id) const noexcept {
    return trimtab::base::mix(id.number ^ trimtab::base::mix(std::uint64_t{id.generation} << 32 | id.home));
  }
};

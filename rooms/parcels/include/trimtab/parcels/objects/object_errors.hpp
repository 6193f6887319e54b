// What goes wrong with objects of other localities. All of these arrive at callers as they are.
#pragma once

#include <stdexcept>
#include <string>

#include "trimtab/parcels/archive/archive.hpp"
#include "trimtab/parcels/calls/locality_lost.hpp"

namespace trimtab::parcels {

// The object was destroyed, or there never was one of this name.
class no_such_object : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A value was sent to a closed channel, or expected from one that is closed and empty.
class channel_closed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A name is registered already, or is registered for an object of another type.
class name_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <class archive>
void serialize(archive& ar, const locality_lost& error) {
  // Read by construct.
  if constexpr (archive::writes) ar(error.locality(), std::string(error.what()));
}
template <>
struct construct<locality_lost> {
  static locality_lost read(reader& ar) {
    const auto which = ar.read<locality_number>();
    return {which, ar.read<std::string>()};
  }
};

}  // namespace trimtab::parcels

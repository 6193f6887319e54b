// Thrown where a result or a message was expected from a locality that has gone.
#pragma once

#include <stdexcept>
#include <string>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

class locality_lost : public std::runtime_error {
 public:
  locality_lost(locality_number which, const std::string& text) : std::runtime_error(text), m_locality(which) {}
  locality_number locality() const noexcept { return m_locality; }

 private:
  locality_number m_locality;
};

}  // namespace trimtab::parcels

// Tells `trimtab launch` that this locality waits for the others, and that it has joined them.
#pragma once

#include <optional>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

class arrival_report {
 public:
  // Tells that it waits. descriptor: a socket to the launcher, which is closed at the end; nullopt: nobody is told. What
  // cannot be sent is not told.
  arrival_report(std::optional<int> descriptor, locality_number own) noexcept;
  ~arrival_report();
  void joined() const noexcept { tell("joined"); }
  arrival_report(const arrival_report&) = delete;
  arrival_report& operator=(const arrival_report&) = delete;

 private:
  void tell(const char* what) const noexcept;
  const int m_descriptor;
  const locality_number m_own;
};

}  // namespace trimtab::parcels

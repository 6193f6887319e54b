// An exception from another locality whose type cannot be built here.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

// what(): the text of the exception that was thrown there. Copies do not throw.
class remote_error : public std::runtime_error {
 public:
  remote_error(std::string type_name, const std::string& text, std::optional<locality_number> locality = {})
      : std::runtime_error(text),
        m_type_name(std::make_shared<const std::string>(std::move(type_name))),
        m_locality(locality) {}

  // As C++ writes it: "solver::diverged".
  const std::string& type_name() const noexcept { return *m_type_name; }
  // Where it was thrown, if that is known.
  std::optional<locality_number> locality() const noexcept { return m_locality; }

 private:
  std::shared_ptr<const std::string> m_type_name;
  std::optional<locality_number> m_locality;
};

}  // namespace trimtab::parcels

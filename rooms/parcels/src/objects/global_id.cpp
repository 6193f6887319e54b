#include "trimtab/parcels/objects/global_id.hpp"

#include <ostream>

namespace trimtab::parcels {

std::string to_string(const global_id& id) {
  if (id.is_empty()) return "no object";
  return "object " + std::to_string(id.number) + " (generation " + std::to_string(id.generation) + ") of locality " +
         std::to_string(id.home);
}

std::ostream& operator<<(std::ostream& out, const global_id& id) { return out << to_string(id); }

}  // namespace trimtab::parcels

#include "trimtab/parcels/objects/names.hpp"

#include "trimtab/base/hash.hpp"

namespace trimtab::parcels {

namespace detail {

global_id keeper_of(const std::string& name, const object_table& table) {
  std::uint64_t hash = name.size();
  for (const char letter : name) hash = base::mix(hash ^ static_cast<unsigned char>(letter));
  return object_table::own_object_of(static_cast<locality_number>(hash % table.size()));
}

}  // namespace detail

tasks::future<void> forget_name(job& owner, const std::string& name) {
  return object_call<&locality_object::forget_name>::call(owner.objects(), detail::keeper_of(name, owner.objects()), name);
}

}  // namespace trimtab::parcels

// Names for handles, so that localities find objects without sending each other their handles. A name is kept by one
// locality of the job, which follows from the name.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"

namespace trimtab::parcels {

namespace detail {

// The object of the locality that keeps the name.
global_id keeper_of(const std::string& name, const object_table& table);

}  // namespace detail

// Ready when others can find it. Throws name_error if the name is in use.
template <class handle>
tasks::future<void> register_name(job& owner, const std::string& name, const handle& object) {
  byte_buffer content;
  writer into(content);
  into(object);
  return object_call<&locality_object::register_name>::call(
      owner.objects(), detail::keeper_of(name, owner.objects()), name, type_signature<handle>(),
      locality_object::bytes(content.data(), content.data() + content.size()));
}

// Ready when the name is registered, which may be later. Throws name_error if it is for an object of another type.
template <class handle>
tasks::future<handle> find_name(job& owner, const std::string& name) {
  auto content = object_call<&locality_object::find_name>::call(owner.objects(), detail::keeper_of(name, owner.objects()),
                                                                name, type_signature<handle>());
  return detail::queue_call(owner.home(), [content = std::move(content), &table = owner.objects()]() mutable {
    const locality_object::bytes bytes = content.get();
    reader in(bytes);
    handle object = in.read<handle>();
    in.must_be_at_end();
    object.bind(table);
    return object;
  });
}

// The name can be registered again when the future is ready. The object stays. Throws name_error if there is no such name.
tasks::future<void> forget_name(job& owner, const std::string& name);

}  // namespace trimtab::parcels

// Data with a name that all localities of a job can use: wait for it, fetch a copy, and move it to another locality. The
// value is set once and never changes.
//
//   auto mesh = global_data<std::vector<double>>::create(job, values);
//   mesh.move_to(job.at(2)).get();          // the handle stays valid, everywhere
//   std::vector<double> copy = mesh.fetch().get();
//
//   auto answer = remote_promise<int>::create(job);
//   trimtab::post(where, compute, answer);  // which calls answer.set_value(42)
//   answer.data().fetch().get();
//
// data_home.hpp describes the protocol.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/data_home.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"

namespace trimtab::parcels {

template <class value>
class remote_promise;

// All functions throw (through their futures) no_such_object after destroy(), and locality_lost when the locality that
// created the data was lost, or the one that has the value.
template <class value>
class global_data : public object_handle {
  using object = detail::data_object<value>;

 public:
  global_data() = default;
  // The value is here.
  static global_data create(job& owner, value content) {
    const global_data data = create_unset(owner.objects());
    data.template call<&object::set_value>(std::move(content)).get();
    return data;
  }

  // Ready when there is a value; throws the exception that was set in its place.
  tasks::future<void> ready() const { return call<&detail::data_home::wait_until_ready>(); }
  // A copy of the value, when there is one; or throws the exception.
  tasks::future<value> fetch() const {
    object_table& local_table = table();
    return detail::queue_call(local_table.home(),
                              [&local_table, id = id(), location = call<&object::begin_fetch>()]() mutable {
                                return read(local_table, id, location);
                              });
  }
  // Ready when the value is there. The old owner drops its copy soon after. If it throws, the value has stayed where it was.
  tasks::future<void> move_to(locality target) const { return call<&detail::data_home::move>(target.number()); }

 private:
  friend class remote_promise<value>;
  using object_handle::object_handle;

  static global_data create_unset(object_table& table) {
    const auto created = std::make_shared<object>(table);
    const global_id id = table.add(created);
    created->set_id(id);
    return global_data(table, id);
  }
  static value read(object_table& local_table, const global_id& id, tasks::future<detail::fetched<value>>& location) {
    detail::fetched<value> result = location.get();
    if (result.content) return std::move(*result.content);
    std::optional<value> content;
    std::exception_ptr error;
    try {
      content.emplace(
          object_call<&locality_object::read_data<value>>::call(local_table, object_table::own_object_of(result.owner), id)
              .get());
    } catch (...) {
      error = std::current_exception();
    }
    end_fetch(local_table, id);
    if (error) std::rethrow_exception(error);
    return std::move(*content);
  }
  // The home counts it, so it must hear of the end; unless it has no such object any more.
  static void end_fetch(object_table& local_table, const global_id& id) {
    object_call<&detail::data_home::end_fetch>::call(local_table, id);
  }
};

// Gives a global_data its value, once, from any locality.
template <class value>
class remote_promise : public object_handle {
  using object = detail::data_object<value>;

 public:
  remote_promise() = default;
  static remote_promise create(job& owner) {
    return remote_promise(owner.objects(), global_data<value>::create_unset(owner.objects()).id());
  }

  global_data<value> data() const { return global_data<value>(table(), id()); }
  // Ready when the value is there. Throws std::future_error if there was a value or an exception before.
  tasks::future<void> set_value(value content) const { return call<&object::set_value>(std::move(content)); }
  tasks::future<void> set_exception(std::exception_ptr error) const {
    return call<&detail::data_home::set_exception>(detail::sent_exception{std::move(error)});
  }

 private:
  using object_handle::object_handle;
};

}  // namespace trimtab::parcels

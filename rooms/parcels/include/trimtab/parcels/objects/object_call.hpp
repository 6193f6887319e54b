// A member function of an object as a request to it: void object::method(answer<result>& reply, parameters...).
//
// Requests are handled where parcels are received, without a task, in the order in which a locality has sent them. So
// methods must be short, never wait, and lock nothing that is held while something is sent. They are work of the program: a
// job does not end before they have been handled.
#pragma once

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "trimtab/parcels/objects/answer.hpp"

namespace trimtab::parcels {

template <auto method>
struct object_call;

template <class object, class value, class... parameters, void (object::*method)(answer<value>&, parameters...)>
struct object_call<method> {
  using arguments = std::tuple<std::decay_t<parameters>...>;

  // The request may go to another locality than the object's home only if `id` names an object of that locality.
  template <class... values>
  static tasks::future<value> call(object_table& table, const global_id& id, values&&... inputs) {
    if (id.home == table.number()) return call_here(table, id, std::forward<values>(inputs)...);
    auto& state = tasks::detail::make_state<detail::result_state<value>>();
    tasks::future<value> result_future = tasks::detail::access::future_of<value>(state);
    try {
      messages_to(table, id).send(id.home, action_of(), &state,
                                  [&](writer& into) { write(into, id, std::forward<values>(inputs)...); });
    } catch (...) {
      // It was not sent: nobody else has the state.
      state.release();
      throw;
    }
    return result_future;
  }
  template <class... values>
  static void post(object_table& table, const global_id& id, values&&... inputs) {
    if (id.home != table.number())
      return messages_to(table, id).send(id.home, action_of(), nullptr,
                                         [&](writer& into) { write(into, id, std::forward<values>(inputs)...); });
    answer<value> reply(table);
    handle(table, id, reply, arguments(std::forward<values>(inputs)...));
  }

 private:
  template <class... values>
  static tasks::future<value> call_here(object_table& table, const global_id& id, values&&... inputs) {
    tasks::promise<value> result;
    tasks::future<value> result_future = result.get_future();
    answer<value> reply(table, std::move(result));
    handle(table, id, reply, arguments(std::forward<values>(inputs)...));
    return result_future;
  }
  static dispatcher& messages_to(object_table& table, const global_id& id) {
    if (id.home < table.size()) return *table.messages();
    throw no_such_object("trimtab: there is no " + to_string(id) + ": the job has " + std::to_string(table.size()) +
                         " localities, numbered from 0");
  }
  template <class... values>
  static void write(writer& into, const global_id& id, values&&... inputs) {
    into(id);
    (into(as_parameter<std::decay_t<parameters>>(std::forward<values>(inputs))), ...);
  }
  template <class parameter, class given>
  static decltype(auto) as_parameter(given&& input) {
    if constexpr (std::is_same_v<std::remove_cvref_t<given>, parameter>)
      return std::forward<given>(input);
    else
      return parameter(std::forward<given>(input));
  }
  static void handle(object_table& table, const global_id& id, answer<value>& reply, arguments&& inputs) noexcept {
    reply.attempt([&] { run(table, id, reply, std::move(inputs)); });
  }
  static void run(object_table& table, const global_id& id, answer<value>& reply, arguments&& inputs) {
    const std::shared_ptr<object> target = table.find<object>(id);
    std::apply([&](auto&&... input) { ((*target).*method)(reply, std::move(input)...); }, std::move(inputs));
  }
  static void receive(const arrival& parcel) {
    object_table& table = *parcel.receiver.objects();
    answer<value> reply(table, parcel);
    reply.attempt([&] {
      reader bytes(parcel.arguments);
      const auto id = bytes.read<global_id>();
      arguments inputs{bytes.read<std::decay_t<parameters>>()...};
      bytes.must_be_at_end();
      run(table, id, reply, std::move(inputs));
    });
    parcel.receiver.note_handled();
  }

  static constexpr parcel_kind kind{
      .signature = type_signature<detail::result_or_empty<value>, global_id, std::decay_t<parameters>...>(),
      .receive = receive};
  static const action& action_of() {
    static const action& known = action_registry::of_process().find_or_add(kind, nullptr);
    return known;
  }
};

}  // namespace trimtab::parcels

// A function called on another locality: its arguments are written here and read there, a task runs it, and the result, or
// the exception, comes back into a future.
#pragma once

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/tasks/core/blocks.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::parcels::detail {

// Queues a task that a parcel has brought, from a worker of `home` or from any other thread.
void queue_received(tasks::task& item, tasks::runtime& home);

// A future's state that is in the table of calls until the result comes.
template <class value>
class result_state final : public tasks::detail::state<value>, public awaited_result {
 public:
  // One reference is the table's, the other the future's.
  result_state() noexcept : tasks::detail::state<value>(2, tasks::detail::destroy_state<result_state>) {}

  void set_result(reader& bytes) noexcept override {
    this->guarded([&] {
      if constexpr (std::is_void_v<value>)
        this->emplace();
      else
        this->emplace(bytes.read<value>());
      bytes.must_be_at_end();
    });
    complete();
  }
  void fail(std::exception_ptr error) noexcept override {
    this->error() = std::move(error);
    complete();
  }

 private:
  void complete() noexcept {
    this->ready_event().complete();
    this->release();
  }
};

template <class value>
inline constexpr bool is_awaitable_result = tasks::detail::is_future<value>::value;

template <class value>
struct result_of_future {
  using type = value;
};
template <class value>
struct result_of_future<tasks::future<value>> {
  using type = value;
};

template <class value>
using result_or_empty = std::conditional_t<std::is_void_v<value>, std::monostate, value>;

// What a caller gets for a function that returns `returned`: the value of a future that it returns.
template <class returned>
using remote_result = typename result_of_future<returned>::type;

template <class returned, class... parameters>
struct remote_call {
  using function = returned (*)(parameters...);
  using arguments = std::tuple<std::decay_t<parameters>...>;
  using result = remote_result<returned>;
  static_assert(!std::is_reference_v<result>,
                "trimtab: an action returns a value, or nothing; a reference means nothing elsewhere");
  static_assert(((!std::is_lvalue_reference_v<parameters> || std::is_const_v<std::remove_reference_t<parameters>>) && ...),
                "trimtab: an action cannot change its caller's variables; take the parameter by value or const reference");

  // The task that a parcel becomes.
  struct called final : tasks::task {
    called(const arrival& parcel, arguments&& values)
        : receiver(parcel.receiver),
          code(reinterpret_cast<function>(const_cast<void*>(parcel.function))),
          inputs(std::move(values)),
          from(parcel.from),
          has_call(parcel.has_call),
          call(parcel.call) {
      run = [](tasks::task& self, place) noexcept { static_cast<called&>(self).run_and_reply(); };
      tasks::detail::set_up(*this, tasks::detail::describe<function>({}, code));
    }

    void run_and_reply() noexcept {
      if (has_call)
        run_call();
      else
        run_posted();  // what it throws ends the program, as in a thread
      dispatcher& counting = receiver;
      tasks::destroy_in_block(tasks::worker::current(), *this);
      counting.note_handled();
    }
    void run_posted() { static_cast<void>(std::apply(code, std::move(inputs))); }
    void run_call() noexcept {
      try {
        if constexpr (is_awaitable_result<returned>) {
          returned later = std::apply(code, std::move(inputs));
          later.wait();
          if constexpr (std::is_void_v<result>)
            later.get();
          else
            return reply_value(later.get());
          reply_void();
        } else if constexpr (std::is_void_v<returned>) {
          std::apply(code, std::move(inputs));
          reply_void();
        } else {
          reply_value(std::apply(code, std::move(inputs)));
        }
      } catch (...) {
        receiver.reply_error(from, call, std::current_exception());
      }
    }
    template <class value>
    void reply_value(value&& output) {
      receiver.reply(from, call, [&](writer& into) { into(std::forward<value>(output)); });
    }
    void reply_void() {
      receiver.reply(from, call, [](writer&) {});
    }

    dispatcher& receiver;
    function code;
    arguments inputs;
    locality_number from;
    bool has_call;
    std::uint64_t call;
  };

  static void receive(const arrival& parcel) {
    reader bytes(parcel.arguments);
    arguments values{bytes.read<std::decay_t<parameters>>()...};
    bytes.must_be_at_end();
    tasks::task& item = tasks::make_in_block<called>(tasks::worker::current(), parcel, std::move(values));
    if (parcel.trace != 0) [[unlikely]]
      tasks::recording::parcel_received(item.subject, item.id, parcel.from, parcel.trace);
    queue_received(item, parcel.receiver.home());
  }

  static constexpr parcel_kind kind{.signature = type_signature<result_or_empty<result>, std::decay_t<parameters>...>(),
                                    .receive = receive};

  static action& action_of(function f) {
    static remembered_action remembered;
    return remembered.get(kind, reinterpret_cast<const void*>(f));
  }

  template <class... values>
  static tasks::future<result> async(dispatcher& sender, locality_number to, function f, values&&... inputs) {
    auto& state = tasks::detail::make_state<result_state<result>>();
    tasks::future<result> later = tasks::detail::access::future_of<result>(state);
    try {
      sender.send(
          to, action_of(f), &state, [&](writer& into) { write(into, std::forward<values>(inputs)...); }, traced(to, f));
    } catch (...) {
      // It was not sent: nobody else has the state.
      state.release();
      throw;
    }
    return later;
  }
  template <class... values>
  static void post(dispatcher& sender, locality_number to, function f, values&&... inputs) {
    sender.send(
        to, action_of(f), nullptr, [&](writer& into) { write(into, std::forward<values>(inputs)...); }, traced(to, f));
  }

 private:
  // The number of a call in the trace of this process. Where nothing is traced that costs a load.
  static std::uint64_t traced(locality_number to, function f) noexcept {
    if (!tasks::recording::traces()) [[likely]]
      return 0;
    return tasks::recording::parcel_sent(tasks::recording::kind_of_call<function>::subject(f), to);
  }
  // As the parameters' types, whatever the caller gave.
  template <class... values>
  static void write(writer& into, values&&... inputs) {
    (into(as_parameter<std::decay_t<parameters>>(std::forward<values>(inputs))), ...);
  }
  template <class parameter, class value>
  static decltype(auto) as_parameter(value&& input) {
    if constexpr (std::is_same_v<std::remove_cvref_t<value>, parameter>)
      return std::forward<value>(input);
    else
      return parameter(std::forward<value>(input));
  }
};

}  // namespace trimtab::parcels::detail

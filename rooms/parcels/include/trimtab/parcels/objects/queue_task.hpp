// A task for a job's runtime, from any thread: also from the one that receives, which belongs to no runtime.
#pragma once

#include <exception>
#include <utility>

#include "trimtab/parcels/calls/remote_call.hpp"

namespace trimtab::parcels::detail {

// call: without a result and without exceptions. Runs once, on a worker of `home`.
template <class function>
void queue_task(tasks::runtime& home, function&& call) {
  using call_type = std::decay_t<function>;
  struct queued final : tasks::task {
    explicit queued(call_type&& given) : code(std::move(given)) {
      tasks::detail::set_up(*this, tasks::detail::describe<call_type>({}, code));
      run = [](tasks::task& self, place) noexcept {
        auto& derived = static_cast<queued&>(self);
        std::move(derived.code)();
        tasks::destroy_in_block(tasks::worker::current(), derived);
      };
    }
    call_type code;
  };
  queue_received(tasks::make_in_block<queued>(tasks::worker::current(), call_type(std::forward<function>(call))), home);
}

// The same with a result, or what it throws.
template <class function>
auto queue_call(tasks::runtime& home, function&& call) {
  using value = std::invoke_result_t<std::decay_t<function>&>;
  tasks::promise<value> result;
  tasks::future<value> result_future = result.get_future();
  queue_task(home, [result = std::move(result), code = std::forward<function>(call)]() mutable noexcept {
    std::exception_ptr error;
    try {
      if constexpr (std::is_void_v<value>) {
        code();
        result.set_value();
      } else {
        result.set_value(code());
      }
    } catch (...) {
      error = std::current_exception();
    }
    if (error) result.set_exception(std::move(error));
  });
  return result_future;
}

}  // namespace trimtab::parcels::detail

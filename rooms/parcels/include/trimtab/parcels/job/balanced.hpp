// Calls that run on a locality that has little to do, drawn when the call can run. They need job_options::shares_load;
// without it they run here.
//
//   trimtab::future<block> next = trimtab::async_balanced(advance, own, left, right);   // own: a future, or a value
#pragma once

#include <utility>

#include "trimtab/parcels/job/job.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::parcels {

namespace detail {

template <class... arguments>
inline constexpr bool has_futures = (tasks::detail::is_future<std::decay_t<arguments>>::value || ...);

}  // namespace detail

// Runs f(arguments...) as a task on a locality of `where` that is drawn at random, in inverse proportion to its load: the
// tasks that run there or could. f and arguments: as for async with a locality. Futures among the arguments are replaced by
// their values, and the locality is drawn when all are ready. The result throws what one of them throws, without a call.
template <detail::action_function function, class... arguments>
auto async_balanced(job& where, function f, arguments&&... inputs) {
  if constexpr (!detail::has_futures<arguments...>) {
    return async(where.choose_by_load(), f, std::forward<arguments>(inputs)...);
  } else {
    using call = decltype(detail::call_of(+f));
    // It is placed before tasks that wait here: they are load that it may avoid.
    constexpr tasks::task_options first{.level = tasks::priority::high};
    auto placed = tasks::dataflow(first, tasks::unwrapping([&where, code = +f](auto&&... values) {
                                    return async(where.choose_by_load(), code, std::forward<decltype(values)>(values)...);
                                  }),
                                  std::forward<arguments>(inputs)...);
    return tasks::future<typename call::result>(std::move(placed));
  }
}
template <detail::action_function function, class... arguments>
auto async_balanced(function f, arguments&&... inputs) {
  return async_balanced(job::current(), f, std::forward<arguments>(inputs)...);
}

// The same without a result. An exception that leaves f ends the process in which it runs; one of a future among the
// arguments ends this one.
template <detail::action_function function, class... arguments>
void post_balanced(job& where, function f, arguments&&... inputs) {
  if constexpr (!detail::has_futures<arguments...>) {
    post(where.choose_by_load(), f, std::forward<arguments>(inputs)...);
  } else {
    constexpr tasks::task_options first{.level = tasks::priority::high};
    tasks::dataflow(
        first,
        [&where, code = +f](auto&&... ready) noexcept {
          tasks::unwrapping([&](auto&&... values) {
            post(where.choose_by_load(), code, std::forward<decltype(values)>(values)...);
          })(std::forward<decltype(ready)>(ready)...);
        },
        std::forward<arguments>(inputs)...);
  }
}
template <detail::action_function function, class... arguments>
void post_balanced(function f, arguments&&... inputs) {
  post_balanced(job::current(), f, std::forward<arguments>(inputs)...);
}

}  // namespace trimtab::parcels

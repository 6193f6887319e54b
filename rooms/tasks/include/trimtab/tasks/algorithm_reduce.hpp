// reduce, transform_reduce.
#pragma once

#include <functional>
#include <optional>

#include "trimtab/tasks/algorithm_engine.hpp"

namespace trimtab::tasks {

namespace detail {

// get(number) begins a cursor, which gives a value and steps on at each call.
template <class value, class getter, class operation>
struct reduce_body {
  using result = std::optional<value>;
  getter& get;
  operation& combine;

  void operator()(std::size_t first, std::size_t last, result& into) const {
    auto next = get(first);
    if (!into) {
      into.emplace(next());
      ++first;
    }
    value sum = std::move(*into);
    // Fewer operations wait for each other; still in order.
    if constexpr (std::is_arithmetic_v<value>)
      for (; last - first >= 4; first += 4) {
        const value a = static_cast<value>(next());
        const value b = static_cast<value>(next());
        const value c = static_cast<value>(next());
        const value d = static_cast<value>(next());
        sum = static_cast<value>(
            combine(sum, static_cast<value>(combine(static_cast<value>(combine(a, b)), static_cast<value>(combine(c, d))))));
      }
    for (; first != last; ++first) sum = static_cast<value>(combine(std::move(sum), next()));
    into.emplace(std::move(sum));
  }
  void join(result& into, result& later) const {
    if (!later) return;
    if (into)
      into.emplace(static_cast<value>(combine(std::move(*into), std::move(*later))));
    else
      into = std::move(later);
  }
};

template <class value, class getter, class operation>
value reduce_all(const loop_options& how, std::size_t length, value init, getter&& get, operation& combine) {
  using body = reduce_body<value, std::remove_reference_t<getter>, operation>;
  auto sum = run_pieces(how, length, body{get, combine});
  if (!sum) return init;
  return static_cast<value>(combine(std::move(init), std::move(*sum)));
}

}  // namespace detail

// init + f(*first) + ... with `combine` as +, which must be associative: what lies on the left of it comes earlier in the
// range. With ordered_chunks the result is the same each time where combine is only nearly associative, as + of doubles.
template <detail::loop_how given, std::forward_iterator each, class value, class operation, class function>
value transform_reduce(given&& how, each first, each last, value init, operation combine, function f) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<each> at(first, length);
  const auto get = [&at, &f](std::size_t number) {
    return [&f, here = at[number]]() mutable -> decltype(auto) { return f(*here++); };
  };
  return detail::reduce_all(detail::options_of(how), length, std::move(init), get, combine);
}
template <std::forward_iterator each, class value, class operation, class function>
value transform_reduce(each first, each last, value init, operation combine, function f) {
  return transform_reduce(loop_options{}, first, last, std::move(init), std::move(combine), std::move(f));
}

// Of two ranges: combines multiply(*i, *j).
template <detail::loop_how given, std::forward_iterator left, std::forward_iterator right, class value, class operation,
          class function>
value transform_reduce(given&& how, left first, left last, right with, value init, operation combine, function multiply) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<left> a(first, length);
  const detail::places<right> b(with, length);
  const auto get = [&](std::size_t number) {
    return [&multiply, i = a[number], j = b[number]]() mutable -> decltype(auto) { return multiply(*i++, *j++); };
  };
  return detail::reduce_all(detail::options_of(how), length, std::move(init), get, combine);
}
template <std::forward_iterator left, std::forward_iterator right, class value, class operation, class function>
value transform_reduce(left first, left last, right with, value init, operation combine, function multiply) {
  return transform_reduce(loop_options{}, first, last, with, std::move(init), std::move(combine), std::move(multiply));
}
template <std::forward_iterator left, std::forward_iterator right, class value>
value transform_reduce(left first, left last, right with, value init) {
  return transform_reduce(loop_options{}, first, last, with, std::move(init), std::plus<>(), std::multiplies<>());
}

template <detail::loop_how given, std::forward_iterator each, class value, class operation = std::plus<>>
value reduce(given&& how, each first, each last, value init, operation combine = {}) {
  const auto same = [](auto&& of) -> decltype(auto) { return std::forward<decltype(of)>(of); };
  return transform_reduce(how, first, last, std::move(init), std::move(combine), same);
}
template <std::forward_iterator each, class value, class operation = std::plus<>>
value reduce(each first, each last, value init, operation combine = {}) {
  return reduce(loop_options{}, first, last, std::move(init), std::move(combine));
}
template <std::forward_iterator each>
std::iter_value_t<each> reduce(each first, each last) {
  return reduce(loop_options{}, first, last, std::iter_value_t<each>{});
}

}  // namespace trimtab::tasks

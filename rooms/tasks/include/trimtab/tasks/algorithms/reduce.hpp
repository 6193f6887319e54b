// reduce, transform_reduce.
#pragma once

#include <functional>
#include <optional>

#include "trimtab/tasks/algorithms/engine.hpp"

namespace trimtab::tasks {

namespace detail {

// get(number) begins a cursor, which gives a value and steps on at each call.
template <class value, class getter, class operation>
struct reduce_body {
  using result = std::optional<value>;
  getter& get;
  operation& combine;

  void operator()(std::size_t first, std::size_t last, result& result_sum) const {
    auto next = get(first);
    if (!result_sum) {
      result_sum.emplace(next());
      ++first;
    }
    value sum = std::move(*result_sum);
    // Fewer operations wait for each other; still in order.
    if constexpr (std::is_arithmetic_v<value>)
      for (; last - first >= 8; first += 8) {
        const auto two = [&] {
          const value a = static_cast<value>(next());
          return static_cast<value>(combine(a, static_cast<value>(next())));
        };
        const auto four = [&] {
          const value a = two();
          return static_cast<value>(combine(a, two()));
        };
        const value a = four();
        sum = static_cast<value>(combine(sum, static_cast<value>(combine(a, four()))));
      }
    for (; first != last; ++first) sum = static_cast<value>(combine(std::move(sum), next()));
    result_sum.emplace(std::move(sum));
  }
  void join(result& result_sum, result& right_sum) const {
    if (!right_sum) return;
    if (result_sum)
      result_sum.emplace(static_cast<value>(combine(std::move(*result_sum), std::move(*right_sum))));
    else
      result_sum = std::move(right_sum);
  }
};

template <class value, class getter, class operation>
value reduce_all(const algorithm_call& how, std::size_t length, value init, getter&& get, operation& combine) {
  using body = reduce_body<value, std::remove_reference_t<getter>, operation>;
  auto sum = run_pieces(how, length, body{get, combine});
  if (!sum) return init;
  return static_cast<value>(combine(std::move(init), std::move(*sum)));
}

template <class each, class value, class operation, class function>
value transform_reduce(const algorithm_call& how, each first, each last, value init, operation& combine, function& f) {
  const std::size_t length = length_of(first, last);
  const places<each> of(first, length);
  const auto get = [&](std::size_t number) {
    return [&f, here = of[number]]() mutable -> decltype(auto) { return f(*here++); };
  };
  return reduce_all(how, length, std::move(init), get, combine);
}

template <class left, class right, class value, class operation, class function>
value transform_reduce(const algorithm_call& how, left first, left last, right with, value init, operation& combine,
                       function& multiply) {
  const std::size_t length = length_of(first, last);
  const places<left> a(first, length);
  const places<right> b(with, length);
  const auto get = [&](std::size_t number) {
    return [&multiply, i = a[number], j = b[number]]() mutable -> decltype(auto) { return multiply(*i++, *j++); };
  };
  return reduce_all(how, length, std::move(init), get, combine);
}

template <class each, class value, class operation>
value reduce(const algorithm_call& how, each first, each last, value init, operation& combine) {
  const auto same = [](auto&& of) -> decltype(auto) { return std::forward<decltype(of)>(of); };
  return transform_reduce(how, first, last, std::move(init), combine, same);
}

}  // namespace detail

// init + f(*first) + ... with `combine` as +, which must be associative: what lies on the left of it comes earlier in the
// range. With ordered_chunks the result is the same each time where combine is only nearly associative, as + of doubles.
template <detail::loop_how given = loop_options, std::forward_iterator each, class value, class operation, class function>
value transform_reduce(given&& how, each first, each last, value init, operation combine, function f,
                       detail::source_place at = detail::source_place::current()) {
  return detail::transform_reduce(detail::call_of("transform_reduce", how, at), first, last, std::move(init), combine, f);
}
template <std::forward_iterator each, class value, class operation, class function>
value transform_reduce(each first, each last, value init, operation combine, function f,
                       detail::source_place at = detail::source_place::current()) {
  return transform_reduce(loop_options{}, first, last, std::move(init), std::move(combine), std::move(f), at);
}

// Of two ranges: combines multiply(*i, *j).
template <detail::loop_how given = loop_options, std::forward_iterator left, std::forward_iterator right, class value,
          class operation, class function>
value transform_reduce(given&& how, left first, left last, right with, value init, operation combine, function multiply,
                       detail::source_place at = detail::source_place::current()) {
  return detail::transform_reduce(detail::call_of("transform_reduce", how, at), first, last, with, std::move(init), combine,
                                  multiply);
}
template <std::forward_iterator left, std::forward_iterator right, class value, class operation, class function>
value transform_reduce(left first, left last, right with, value init, operation combine, function multiply,
                       detail::source_place at = detail::source_place::current()) {
  return transform_reduce(loop_options{}, first, last, with, std::move(init), std::move(combine), std::move(multiply), at);
}
template <std::forward_iterator left, std::forward_iterator right, class value>
value transform_reduce(left first, left last, right right_source, value init,
                       detail::source_place call_site = detail::source_place::current()) {
  return transform_reduce(loop_options{}, first, last, right_source, std::move(init), std::plus<>(), std::multiplies<>(),
                          call_site);
}

template <detail::loop_how given = loop_options, std::forward_iterator each, class value, class operation = std::plus<>>
value reduce(given&& how, each first, each last, value init, operation combine = {},
             detail::source_place at = detail::source_place::current()) {
  return detail::reduce(detail::call_of("reduce", how, at), first, last, std::move(init), combine);
}
template <std::forward_iterator each, class value, class operation = std::plus<>>
value reduce(each first, each last, value init, operation combine = {},
             detail::source_place at = detail::source_place::current()) {
  return reduce(loop_options{}, first, last, std::move(init), std::move(combine), at);
}
template <std::forward_iterator each>
std::iter_value_t<each> reduce(each first, each last, detail::source_place call_site = detail::source_place::current()) {
  return reduce(loop_options{}, first, last, std::iter_value_t<each>{}, std::plus<>(), call_site);
}

}  // namespace trimtab::tasks

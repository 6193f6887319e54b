// for_loop, for_each, transform.
#pragma once

#include "trimtab/tasks/algorithms/engine.hpp"

namespace trimtab::tasks {

namespace detail {

// Functions that are alike when copied are called from a copy on the stack, so that compilers can keep what they hold in
// registers.
template <class function, class argument>
concept copied_for_speed =
    std::is_trivially_copyable_v<function> && sizeof(function) <= 64 && std::invocable<const function&, argument>;

template <class place, class function>
struct loop_body {
  using result = no_result;
  const places<place>& at;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    if constexpr (copied_for_speed<std::remove_const_t<function>, place&>) {
      const std::remove_const_t<function> local = call;
      each(first, last, local);
    } else {
      each(first, last, call);
    }
  }
  void join(no_result&, no_result&) const noexcept {}

 private:
  template <class called>
  void each(std::size_t first, std::size_t last, called& f) const {
    place here = at[first];
    if constexpr (std::integral<place> || std::random_access_iterator<place>) {
      for (const place end = at[last]; here != end; ++here) f(here);
    } else {
      for (; first != last; ++first, ++here) f(here);
    }
  }
};

template <class place, class function>
void loop(const algorithm_call& how, place first, std::size_t length, function&& f) {
  const places<place> at(first, length);
  run_pieces(how, length, loop_body<place, std::remove_reference_t<function>>{at, f});
}

}  // namespace detail

// f(i) for each i of first .. last, integers or iterators, in any order and at the same time.
// Throws the first exception that one of the calls threw, when all that began have ended; others may not have begun.
// Called on a thread that is no worker, on the standard runtime.
template <detail::loop_how given = loop_options, class from, class to, class function>
void for_loop(given&& how, from first, to last, function&& f, detail::source_place at = detail::source_place::current()) {
  using place = std::common_type_t<from, to>;
  const auto length = detail::length_of<place>(first, last);
  detail::loop(detail::call_of("for_loop", how, at), static_cast<place>(first), length, f);
}
template <class from, class to, class function>
  requires(!detail::loop_how<from>)
void for_loop(from first, to last, function&& f, detail::source_place at = detail::source_place::current()) {
  for_loop(loop_options{}, first, last, f, at);
}

// f(*i) for each i of first .. last. Returns last.
template <detail::loop_how given = loop_options, std::forward_iterator each, class function>
each for_each(given&& how, each first, each last, function&& f, detail::source_place at = detail::source_place::current()) {
  const auto call = [&f](const each& which) { f(*which); };
  detail::loop(detail::call_of("for_each", how, at), first, detail::length_of(first, last), call);
  return last;
}
template <std::forward_iterator each, class function>
each for_each(each first, each last, function&& f, detail::source_place at = detail::source_place::current()) {
  return for_each(loop_options{}, first, last, f, at);
}

namespace detail {

template <class input, class output, class function>
struct transform_body {
  using result = no_result;
  const places<input>& from;
  const places<output>& to;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    input in = from[first];
    output out = to[first];
    for (; first != last; ++first, ++in, ++out) *out = call(*in);
  }
  void join(no_result&, no_result&) const noexcept {}
};

template <class left, class right, class output, class function>
struct transform_two_body {
  using result = no_result;
  const places<left>& from;
  const places<right>& with;
  const places<output>& to;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    left a = from[first];
    right b = with[first];
    output out = to[first];
    for (; first != last; ++first, ++a, ++b, ++out) *out = call(*a, *b);
  }
  void join(no_result&, no_result&) const noexcept {}
};

}  // namespace detail

// *o = f(*i) for each i of first .. last and o from `to` on. Returns the end of what was written.
template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output, class function>
output transform(given&& how, input first, input last, output to, function&& f,
                 detail::source_place at = detail::source_place::current()) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<input> from(first, length);
  const detail::places<output> into(to, length);
  using body = detail::transform_body<input, output, std::remove_reference_t<function>>;
  detail::run_pieces(detail::call_of("transform", how, at), length, body{from, into, f});
  return into[length];
}
template <std::forward_iterator input, std::forward_iterator output, class function>
output transform(input first, input last, output to, function&& f,
                 detail::source_place at = detail::source_place::current()) {
  return transform(loop_options{}, first, last, to, f, at);
}

// *o = f(*i, *j), j from `with` on.
template <detail::loop_how given = loop_options, std::forward_iterator left, std::forward_iterator right,
          std::forward_iterator output, class function>
output transform(given&& how, left first, left last, right with, output to, function&& f,
                 detail::source_place at = detail::source_place::current()) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<left> from(first, length);
  const detail::places<right> second(with, length);
  const detail::places<output> into(to, length);
  using body = detail::transform_two_body<left, right, output, std::remove_reference_t<function>>;
  detail::run_pieces(detail::call_of("transform", how, at), length, body{from, second, into, f});
  return into[length];
}
template <std::forward_iterator left, std::forward_iterator right, std::forward_iterator output, class function>
output transform(left first, left last, right with, output to, function&& f,
                 detail::source_place at = detail::source_place::current()) {
  return transform(loop_options{}, first, last, with, to, f, at);
}

}  // namespace trimtab::tasks

// for_loop, for_each, transform.
#pragma once

#include "trimtab/tasks/algorithms/engine.hpp"

namespace trimtab::tasks {

namespace detail {

// Functions that can be copied without effect are called from a copy on the stack, so that compilers can keep their
// members in registers.
template <class function, class argument>
concept copied_for_speed =
    std::is_trivially_copyable_v<function> && sizeof(function) <= 64 && std::invocable<const function&, argument>;

template <class place, class function>
struct loop_body {
  using result = no_result;
  const places<place>& positions;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    if constexpr (copied_for_speed<std::remove_const_t<function>, place&>) {
      const std::remove_const_t<function> local = call;
      call_each(first, last, local);
    } else {
      call_each(first, last, call);
    }
  }
  void join(no_result&, no_result&) const noexcept {}

 private:
  template <class called>
  void call_each(std::size_t first, std::size_t last, called& f) const {
    place position = positions[first];
    if constexpr (std::integral<place> || std::random_access_iterator<place>) {
      for (const place end = positions[last]; position != end; ++position) f(position);
    } else {
      for (; first != last; ++first, ++position) f(position);
    }
  }
};

template <class place, class function>
void loop(const algorithm_call& call, place first, std::size_t length, function&& f) {
  const places<place> positions(first, length);
  run_pieces(call, length, loop_body<place, std::remove_reference_t<function>>{positions, f});
}

}  // namespace detail

// Calls f(i) for each i of first .. last, integers or iterators, in any order and in parallel.
// Throws the first exception of a call, when all calls that began have ended; other calls may not have begun.
// On a thread that is not a worker it uses the standard runtime.
template <detail::loop_how given = loop_options, class from, class to, class function>
void for_loop(given&& options, from first, to last, function&& f,
              detail::source_place call_site = detail::source_place::current()) {
  using place = std::common_type_t<from, to>;
  const auto length = detail::length_of<place>(first, last);
  detail::loop(detail::call_of("for_loop", options, call_site), static_cast<place>(first), length, f);
}
template <class from, class to, class function>
  requires(!detail::loop_how<from>)
void for_loop(from first, to last, function&& f, detail::source_place call_site = detail::source_place::current()) {
  for_loop(loop_options{}, first, last, f, call_site);
}

// Calls f(*i) for each i of first .. last. Returns last.
template <detail::loop_how given = loop_options, std::forward_iterator each, class function>
each for_each(given&& options, each first, each last, function&& f,
              detail::source_place call_site = detail::source_place::current()) {
  const auto call = [&f](const each& body) { f(*body); };
  detail::loop(detail::call_of("for_each", options, call_site), first, detail::length_of(first, last), call);
  return last;
}
template <std::forward_iterator each, class function>
each for_each(each first, each last, function&& f, detail::source_place call_site = detail::source_place::current()) {
  return for_each(loop_options{}, first, last, f, call_site);
}

namespace detail {

template <class input, class output, class function>
struct transform_body {
  using result = no_result;
  const places<input>& source;
  const places<output>& target;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    input element = source[first];
    output destination = target[first];
    for (; first != last; ++first, ++element, ++destination) *destination = call(*element);
  }
  void join(no_result&, no_result&) const noexcept {}
};

template <class left, class right, class output, class function>
struct transform_two_body {
  using result = no_result;
  const places<left>& source;
  const places<right>& right_source;
  const places<output>& target;
  function& call;

  void operator()(std::size_t first, std::size_t last, no_result&) const {
    left a = source[first];
    right b = right_source[first];
    output destination = target[first];
    for (; first != last; ++first, ++a, ++b, ++destination) *destination = call(*a, *b);
  }
  void join(no_result&, no_result&) const noexcept {}
};

}  // namespace detail

// *o = f(*i) for each i of first .. last; o begins at `destination`. Returns the end of the output.
template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output, class function>
output transform(given&& options, input first, input last, output destination, function&& f,
                 detail::source_place call_site = detail::source_place::current()) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<input> source(first, length);
  const detail::places<output> target(destination, length);
  using body = detail::transform_body<input, output, std::remove_reference_t<function>>;
  detail::run_pieces(detail::call_of("transform", options, call_site), length, body{source, target, f});
  return target[length];
}
template <std::forward_iterator input, std::forward_iterator output, class function>
output transform(input first, input last, output target, function&& f,
                 detail::source_place call_site = detail::source_place::current()) {
  return transform(loop_options{}, first, last, target, f, call_site);
}

// *o = f(*i, *j); j begins at `right_source`.
template <detail::loop_how given = loop_options, std::forward_iterator left, std::forward_iterator right,
          std::forward_iterator output, class function>
output transform(given&& options, left first, left last, right right_source, output destination, function&& f,
                 detail::source_place call_site = detail::source_place::current()) {
  const std::size_t length = detail::length_of(first, last);
  const detail::places<left> left_source(first, length);
  const detail::places<right> second(right_source, length);
  const detail::places<output> target(destination, length);
  using body = detail::transform_two_body<left, right, output, std::remove_reference_t<function>>;
  detail::run_pieces(detail::call_of("transform", options, call_site), length, body{left_source, second, target, f});
  return target[length];
}
template <std::forward_iterator left, std::forward_iterator right, std::forward_iterator output, class function>
output transform(left first, left last, right right_source, output target, function&& f,
                 detail::source_place call_site = detail::source_place::current()) {
  return transform(loop_options{}, first, last, right_source, target, f, call_site);
}

}  // namespace trimtab::tasks

// Whether a type can be sent, and the message of the compiler if not.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "trimtab/parcels/archive/codecs.hpp"
#include "trimtab/parcels/archive/form.hpp"

namespace trimtab::parcels {
namespace detail {

enum class refusal : std::uint8_t {
  none,
  pointer,
  reference,
  view,
  constant,
  loose_enumeration,
  polymorphic,
  unreadable,
  unknown
};

template <class T>
inline constexpr bool is_view = false;
template <class T, std::size_t size>
inline constexpr bool is_view<std::span<T, size>> = true;
template <class character, class traits>
inline constexpr bool is_view<std::basic_string_view<character, traits>> = true;
template <class T>
inline constexpr bool is_view<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool is_view<std::coroutine_handle<T>> = true;

// A polymorphic object may be of a derived class, of which nothing would be sent.
template <class T>
concept owns_polymorphic = requires { requires codec<T>::owns_polymorphic; };

template <class T>
consteval refusal refusal_of_itself() {
  if constexpr (std::is_reference_v<T>) {
    return refusal::reference;
  } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> ||
                       std::is_function_v<T>) {
    return refusal::pointer;
  } else if constexpr (is_view<std::remove_cv_t<T>>) {
    return refusal::view;
  } else if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) {
    return refusal::constant;
  } else if constexpr (std::is_enum_v<T> && !fixed_enumeration<T>) {
    return refusal::loose_enumeration;
  } else if constexpr (owns_polymorphic<T>) {
    return refusal::polymorphic;
  } else if constexpr (form_of<T> == form::refused) {
    return refusal::unknown;
  } else if constexpr (!is_flat<T> && !std::default_initializable<T> && !has_construct<T>) {
    return refusal::unreadable;
  } else {
    return refusal::none;
  }
}

template <class T>
struct parts_of {
  using types = type_list<>;
};
template <class T>
  requires(form_of<T> == form::by_fields)
struct parts_of<T> {
  using types = field_types<T>;
};
template <class T>
  requires(form_of<T> == form::standard)
struct parts_of<T> {
  using types = typename codec<T>::parts;
};

template <class T, class... outer>
consteval refusal refusal_of();

template <class... outer, class... T>
consteval refusal first_refusal(type_list<T...>) {
  refusal first = refusal::none;
  static_cast<void>(((first = refusal_of<T, outer...>(), first != refusal::none) || ...));
  return first;
}

// `outer`: the types that T is a part of. A type that contains itself (through a vector, say) can be sent if its other parts
// can.
template <class T, class... outer>
consteval refusal refusal_of() {
  if constexpr ((std::is_same_v<T, outer> || ...)) {
    return refusal::none;
  } else if constexpr (refusal_of_itself<T>() != refusal::none) {
    return refusal_of_itself<T>();
  } else {
    return first_refusal<T, outer...>(typename parts_of<T>::types());
  }
}

template <class T>
inline constexpr refusal reason_of = refusal_of<T>();

}  // namespace detail

// Can be written and read.
template <class T>
concept serializable = detail::reason_of<T> == detail::refusal::none;

namespace detail {

// The messages name no type: the compiler names T where it tells of the instantiation.
template <class T>
consteval bool check_serializable() {
  constexpr refusal reason = reason_of<T>;
  static_assert(
      reason != refusal::pointer,
      "trimtab: T is or contains a pointer, which means nothing in another process. Send the value, a std::unique_ptr "
      "that owns it, or buffer<X> for many values");
  static_assert(reason != refusal::reference,
                "trimtab: T is a reference, which means nothing in another process. Send the value");
  static_assert(reason != refusal::view,
                "trimtab: T is or contains a std::span, std::string_view or other view of memory of this process. Send a "
                "std::vector, buffer<X> or std::string, which own their content");
  static_assert(reason != refusal::constant,
                "trimtab: T is or contains something const or volatile, which cannot be read into");
  static_assert(
      reason != refusal::loose_enumeration,
      "trimtab: T is or contains an enumeration without a fixed underlying type, which does not have a value for every "
      "bit pattern. Write `enum X : int` or `enum class X`");
  static_assert(
      reason != refusal::polymorphic,
      "trimtab: T is or contains a std::unique_ptr to a class with virtual functions: only its base would be sent. Send "
      "a std::variant of the classes, or mark the class final");
  static_assert(
      reason != refusal::unreadable,
      "trimtab: T is or contains a class without a default constructor. Specialize trimtab::parcels::construct<X> with "
      "`static X read(reader& ar)`");
  static_assert(
      reason != refusal::unknown,
      "trimtab: T is or contains a class that trimtab cannot send. Give it a member `template <class archive> void "
      "serialize(archive& ar) { ar(m_a, m_b); }`; or, if it is trivially copyable and has no pointers, specialize "
      "trimtab::parcels::is_bitwise<X>. Automatic are aggregates of 1 to 16 fields without base classes");
  return reason == refusal::none;
}

}  // namespace detail
}  // namespace trimtab::parcels

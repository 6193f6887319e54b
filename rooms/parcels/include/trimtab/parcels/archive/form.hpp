// How a type is sent: its form. Decided at compile time, once per type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "trimtab/parcels/archive/customize.hpp"
#include "trimtab/parcels/archive/fields.hpp"

namespace trimtab::parcels::detail {

// How a type of the standard library is sent. A specialization has
//     using parts = type_list<...>;   the types in it
//     static void write(auto& ar, const T& value); static void read(auto& ar, T& value);
// and may have `least_bytes`, if that is above 1.
template <class T>
struct codec;

// Types of the standard library that are copied as bytes if T is.
template <class T>
struct bitwise_template {};

enum class form : std::uint8_t {
  refused,
  flat,       // copied as bytes, any bytes are a value
  boolean,    // one byte, 0 or 1
  empty,      // one byte, ignored: so that everything takes at least one byte
  standard,   // by its codec
  by_user,    // by its function serialize
  by_fields,  // an aggregate, field by field
};

template <class T>
concept has_codec = requires { typename codec<T>::parts; };
template <class T>
concept has_bitwise_content = requires { typename bitwise_template<T>::content; };
template <class T>
concept has_member_serialize = requires(T& value, writer& out, reader& in) {
  value.serialize(out);
  value.serialize(in);
};
template <class T>
concept has_free_serialize = requires(T& value, writer& out, reader& in) {
  serialize(out, value);
  serialize(in, value);
};
template <class T>
concept has_construct = requires(reader& in) {
  { construct<T>::read(in) } -> std::same_as<T>;
};
// Only enumerations with a fixed underlying type have a value for each of its bits.
template <class T>
concept fixed_enumeration = std::is_enum_v<T> && requires { T{0}; };

template <class T>
consteval form find_form();
template <class T>
inline constexpr form form_of = find_form<T>();
template <class T>
inline constexpr bool is_flat = form_of<T> == form::flat;

template <class... T>
consteval bool are_flat(type_list<T...>) {
  return (is_flat<T> && ...);
}

template <class T>
consteval form form_of_scalar() {
  if constexpr (std::is_same_v<T, bool>) {
    return form::boolean;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return form::flat;
  } else if constexpr (fixed_enumeration<T>) {
    return form_of<std::underlying_type_t<T>>;
  } else {
    return form::refused;
  }
}

template <class T>
consteval form form_of_aggregate() {
  if constexpr (field_count<T> == 0) {
    return form::refused;
  } else if constexpr (std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T>) {
    return are_flat(field_types<T>()) ? form::flat : form::by_fields;
  } else {
    return form::by_fields;
  }
}

template <class T>
consteval form form_of_class() {
  if constexpr (has_member_serialize<T> || has_free_serialize<T>) {
    return form::by_user;
  } else if constexpr (is_bitwise<T>) {
    static_assert(std::is_trivially_copyable_v<T>, "trimtab: is_bitwise<T> is for trivially copyable types only");
    return form::flat;
  } else if constexpr (std::is_empty_v<T> && std::is_trivially_copyable_v<T>) {
    return form::empty;
  } else {
    return form_of_aggregate<T>();
  }
}

template <class T>
consteval form find_form() {
  if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) {
    return form::refused;
  } else if constexpr (has_bitwise_content<T>) {
    return is_flat<typename bitwise_template<T>::content> ? form::flat : has_codec<T> ? form::standard : form::refused;
  } else if constexpr (has_codec<T>) {
    return form::standard;
  } else if constexpr (std::is_class_v<T>) {
    return form_of_class<T>();
  } else {
    return form_of_scalar<T>();
  }
}

// The fewest bytes that a value takes in a message: at least 1, so that no short message can announce many elements.
template <class T>
consteval std::size_t least_bytes();

template <class... T>
consteval std::size_t sum_least_bytes(type_list<T...>) {
  return (least_bytes<T>() + ... + 0);
}

template <class T>
consteval std::size_t least_bytes() {
  if constexpr (is_flat<T>) {
    return sizeof(T);
  } else if constexpr (form_of<T> == form::by_fields) {
    return sum_least_bytes(field_types<T>());
  } else if constexpr (requires { codec<T>::least_bytes; }) {
    return codec<T>::least_bytes;
  } else {
    return 1;
  }
}

}  // namespace trimtab::parcels::detail

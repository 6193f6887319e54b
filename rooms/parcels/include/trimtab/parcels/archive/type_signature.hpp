// A number for what the bytes of a type mean, so that two builds that disagree notice.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "trimtab/base/hash.hpp"
#include "trimtab/parcels/archive/codecs.hpp"
#include "trimtab/parcels/archive/serializable.hpp"

namespace trimtab::parcels {
namespace detail {

constexpr std::uint64_t add_to_signature(std::uint64_t signature, std::uint64_t number) noexcept {
  return base::mix(signature ^ base::mix(number));
}

constexpr std::uint64_t add_to_signature(std::uint64_t signature, std::string_view text) noexcept {
  for (const char letter : text) signature = add_to_signature(signature, static_cast<unsigned char>(letter));
  return add_to_signature(signature, text.size());
}

// The type's name out of the function's own, which every compiler spells in its own way: "... [with T = name]", "... [T =
// name]".
template <class T>
constexpr std::string_view type_text() noexcept {
  constexpr std::string_view function = __PRETTY_FUNCTION__;
  constexpr std::size_t first = function.find("T = ") + 4;
  constexpr std::size_t end = function.find(';', first);
  return function.substr(first, (end == std::string_view::npos ? function.rfind(']') : end) - first);
}

// Types with the same name may differ between the processors on which a job runs: char has a sign on x86-64 and none on
// aarch64, long double has other bits.
template <class T>
constexpr std::string_view scalar_kind() noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return "floating-point";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, wchar_t>) {
    return "character";
  } else {
    return std::is_signed_v<T> ? "signed" : "unsigned";
  }
}

template <class T>
constexpr std::uint64_t scalar_signature(std::uint64_t signature) noexcept {
  signature = add_to_signature(signature, scalar_kind<T>());
  signature = add_to_signature(signature, sizeof(T));
  if constexpr (std::is_floating_point_v<T>)
    signature = add_to_signature(signature, std::uint64_t{std::numeric_limits<T>::digits});
  return signature;
}

template <class T, class... outer>
constexpr std::uint64_t signature_of(std::uint64_t signature) noexcept;

template <class... outer, class... T>
constexpr std::uint64_t parts_signature(std::uint64_t signature, type_list<T...>) noexcept {
  signature = add_to_signature(signature, sizeof...(T));
  ((signature = signature_of<T, outer...>(signature)), ...);
  return signature;
}

// Of a codec or bitwise_template: its name, and the numbers among the arguments of the template.
template <class description>
constexpr std::uint64_t add_shape(std::uint64_t signature) noexcept {
  signature = add_to_signature(signature, std::string_view(description::shape));
  if constexpr (requires { description::extent; })
    signature = add_to_signature(signature, std::uint64_t{description::extent});
  if constexpr (requires { description::divisor; })
    signature = add_to_signature(signature, std::uint64_t{description::divisor});
  return signature;
}

template <class T, class... outer>
constexpr std::uint64_t class_signature(std::uint64_t signature) noexcept {
  if constexpr (has_codec<T>) {
    return parts_signature<T, outer...>(add_shape<codec<T>>(signature), typename codec<T>::parts());
  } else if constexpr (has_bitwise_content<T>) {
    return parts_signature<T, outer...>(add_shape<bitwise_template<T>>(signature),
                                        type_list<typename bitwise_template<T>::content>());
  } else if constexpr (form_of<T> == form::by_fields || (is_flat<T> && !is_bitwise<T>)) {
    return parts_signature<T, outer...>(add_to_signature(signature, is_flat<T> ? sizeof(T) : 0), field_types<T>());
  } else {
    signature = add_to_signature(signature, type_text<T>());
    return add_to_signature(add_to_signature(signature, sizeof(T)), alignof(T));
  }
}

// The place of T among the types that it is a part of: a type that contains itself ends there.
template <class T, class... outer>
constexpr std::size_t outer_place() noexcept {
  std::size_t place = 0;
  static_cast<void>(((++place, std::is_same_v<T, outer>) || ...));
  return place;
}

template <class T, class... outer>
constexpr std::uint64_t signature_of(std::uint64_t signature) noexcept {
  if constexpr ((std::is_same_v<T, outer> || ...)) {
    return add_to_signature(add_to_signature(signature, "outer"), outer_place<T, outer...>());
  } else if constexpr (std::is_enum_v<T>) {
    return scalar_signature<std::underlying_type_t<T>>(add_to_signature(signature, "enumeration"));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return scalar_signature<T>(signature);
  } else {
    return class_signature<T, outer...>(signature);
  }
}

template <class T>
inline constexpr std::uint64_t checked_signature = check_serializable<T>() ? signature_of<T>(sizeof(std::uint64_t)) : 0;

}  // namespace detail

// Equal for the same types on both sides of a message, whichever of the supported compilers and processors they are built
// for.
template <class... T>
constexpr std::uint64_t type_signature() noexcept {
  std::uint64_t signature = sizeof...(T);
  ((signature = detail::add_to_signature(signature, detail::checked_signature<T>)), ...);
  return signature;
}

}  // namespace trimtab::parcels

// How many fields an aggregate has. C++20 cannot ask for it, but whether an aggregate can be initialized by n values can be
// asked, with values that convert to every type.
//
// An array of n elements takes n values, because braces may be left out. So after the greatest number of values is known,
// each field is given a braced value in turn: if it is an array, fewer values fit behind it. (The method of the library
// reflect-cpp.) A wrong result can do no harm: structured bindings compile only with the right number of names.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace trimtab::parcels::detail {

// Converts to every type but the aggregate itself, which would be a copy.
template <class T, std::size_t>
struct any_field {
  template <class field>
    requires(!std::is_same_v<field, T>)
  operator field() const noexcept;  // not defined: never evaluated
};

template <class T>
struct any_base {
  template <class base>
    requires(std::is_base_of_v<base, T> && !std::is_same_v<base, T>)
  operator base() const noexcept;
};

template <class T>
concept has_base = requires { T{any_base<T>()}; };

inline constexpr std::size_t most_values = 256;  // arrays included
inline constexpr std::size_t most_fields = 16;

template <class T, std::size_t... index>
consteval bool takes_values(std::index_sequence<index...>) {
  return requires { T{any_field<T, index>()...}; };
}

template <class T, std::size_t... left, std::size_t... right>
consteval bool takes_braced(std::index_sequence<left...>, std::index_sequence<right...>) {
  return requires { T{any_field<T, left>()..., {any_field<T, 0>()}, any_field<T, right>()...}; };
}

// Aggregates take every number of values from their last field that needs one to the last value.
template <class T, std::size_t count = 0>
consteval std::size_t least_values() {
  if constexpr (takes_values<T>(std::make_index_sequence<count>()) || count > most_fields) {
    return count;
  } else {
    return least_values<T, count + 1>();
  }
}

// The greatest number of values between `low`, which fits, and `high`, which does not.
template <class T, std::size_t low, std::size_t high>
consteval std::size_t value_count() {
  if constexpr (high - low <= 1) {
    return low;
  } else {
    constexpr std::size_t middle = low + (high - low) / 2;
    if constexpr (takes_values<T>(std::make_index_sequence<middle>())) {
      return value_count<T, middle, high>();
    } else {
      return value_count<T, low, middle>();
    }
  }
}

// Of the field that begins at `position`: as many values as do not fit behind it any more.
template <class T, std::size_t position, std::size_t total, std::size_t width = 1>
consteval std::size_t field_width() {
  if constexpr (position + width > total) {
    return 1;  // takes no braced value, so it is no array
  } else if constexpr (takes_braced<T>(std::make_index_sequence<position>(),
                                       std::make_index_sequence<total - position - width>())) {
    return width;
  } else {
    return field_width<T, position, total, width + 1>();
  }
}

template <class T, std::size_t total, std::size_t position = 0, std::size_t fields = 0>
consteval std::size_t count_fields() {
  if constexpr (position >= total || fields > most_fields) {
    return fields;
  } else {
    return count_fields<T, total, position + field_width<T, position, total>(), fields + 1>();
  }
}

template <class T>
consteval std::size_t find_field_count() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T>) {
    return 0;
  } else if constexpr (has_base<T>) {
    return 0;
  } else if constexpr (least_values<T>() > most_fields || takes_values<T>(std::make_index_sequence<most_values>())) {
    return 0;
  } else {
    constexpr std::size_t count = count_fields<T, value_count<T, least_values<T>(), most_values>()>();
    return count <= most_fields ? count : 0;
  }
}

// 0: no aggregate, or one that cannot be taken apart (bases, references, more than 16 fields or 256 values, no field).
template <class T>
inline constexpr std::size_t field_count = find_field_count<T>();

}  // namespace trimtab::parcels::detail

// Types with a fixed number of parts, and those that have a value or none.
#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

#include "trimtab/parcels/archive/form.hpp"

namespace trimtab::parcels::detail {

template <class T>
struct bitwise_template<std::complex<T>> {
  using content = T;
  static constexpr const char* shape = "complex";
};
template <class T, class period>
struct bitwise_template<std::chrono::duration<T, period>> {
  using content = T;
  static constexpr const char* shape = "duration";
  static constexpr std::intmax_t extent = period::num, divisor = period::den;
};
template <class clock, class T>
struct bitwise_template<std::chrono::time_point<clock, T>> {
  using content = T;
  static constexpr const char* shape = "time point";
};
template <class T, std::size_t size>
  requires(size != 0)
struct bitwise_template<std::array<T, size>> {
  using content = T;
};
template <class T, std::size_t size>
struct bitwise_template<T[size]> {
  using content = T;
};

template <class array, class T, std::size_t size>
struct array_codec {
  using parts = type_list<T>;
  static constexpr const char* shape = "array";
  static constexpr std::size_t extent = size;
  static constexpr std::size_t least_bytes = size * detail::least_bytes<T>();

  static void write(auto& ar, const array& values) {
    for (const T& value : values) ar(value);
  }
  static void read(auto& ar, array& values) {
    for (T& value : values) ar(value);
  }
};
template <class T, std::size_t size>
  requires(size != 0)
struct codec<std::array<T, size>> : array_codec<std::array<T, size>, T, size> {};
// One byte, like all that is empty.
template <class T>
struct codec<std::array<T, 0>> {
  using parts = type_list<>;
  static constexpr const char* shape = "empty";

  static void write(auto& ar, const std::array<T, 0>&) { ar(std::uint8_t{0}); }
  static void read(auto& ar, std::array<T, 0>&) { ar.read_bytes(1); }
};
template <class T, std::size_t size>
struct codec<T[size]> : array_codec<T[size], T, size> {};

template <class... T>
struct product_codec {
  using parts = type_list<T...>;
  static constexpr const char* shape = "tuple";
  static constexpr std::size_t least_bytes = (detail::least_bytes<T>() + ... + 0);

  static void write(auto& ar, const auto& values) {
    std::apply([&ar](const auto&... value) { ar(value...); }, values);
  }
  static void read(auto& ar, auto& values) {
    std::apply([&ar](auto&... value) { ar(value...); }, values);
  }
};
template <class A, class B>
struct codec<std::pair<A, B>> : product_codec<A, B> {};
template <class... T>
  requires(sizeof...(T) != 0)
struct codec<std::tuple<T...>> : product_codec<T...> {};

template <class T>
struct codec<std::optional<T>> {
  using parts = type_list<T>;
  static constexpr const char* shape = "optional";

  static void write(auto& ar, const std::optional<T>& value) {
    ar(value.has_value());
    if (value) ar(*value);
  }
  static void read(auto& ar, std::optional<T>& value) {
    value.reset();
    if (ar.template read<bool>()) value.emplace(ar.template read<T>());
  }
};

template <class T>
struct codec<std::unique_ptr<T>> {
  using parts = type_list<T>;
  static constexpr const char* shape = "optional";
  static constexpr bool owns_polymorphic = std::is_polymorphic_v<T> && !std::is_final_v<T>;

  static void write(auto& ar, const std::unique_ptr<T>& value) {
    const auto level = ar.deeper();
    ar(value != nullptr);
    if (value) ar(*value);
  }
  static void read(auto& ar, std::unique_ptr<T>& value) {
    const auto level = ar.deeper();
    value.reset();
    if (ar.template read<bool>()) value.reset(new T(ar.template read<T>()));
  }
};

template <class... T>
struct codec<std::variant<T...>> {
  using parts = type_list<T...>;
  static constexpr const char* shape = "variant";
  static constexpr std::size_t least_bytes = 2;

  static void write(auto& ar, const std::variant<T...>& value) {
    if (value.valueless_by_exception()) throw std::invalid_argument("trimtab: a variant without a value cannot be sent");
    ar(static_cast<std::uint16_t>(value.index()));
    std::visit([&ar](const auto& alternative) { ar(alternative); }, value);
  }

  static void read(auto& ar, std::variant<T...>& value) {
    const std::size_t index = ar.template read<std::uint16_t>();
    if (index >= sizeof...(T)) ar.fail("the index of an alternative of the variant", "a greater one");
    read_alternative(ar, value, index, std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... number>
  static void read_alternative(auto& ar, std::variant<T...>& value, std::size_t index, std::index_sequence<number...>) {
    static_cast<void>(((index == number && (value.template emplace<number>(ar.template read<T>()), true)) || ...));
  }
};

template <std::size_t size>
  requires(size != 0)
struct codec<std::bitset<size>> {
  using parts = type_list<>;
  static constexpr const char* shape = "bitset";
  static constexpr std::size_t extent = size;
  static constexpr std::size_t least_bytes = (size + 7) / 8;

  static void write(auto& ar, const std::bitset<size>& bits) {
    std::array<std::uint8_t, least_bytes> bytes = {};
    for (std::size_t i = 0; i < size; ++i)
      bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | unsigned{bits[i]} << i % 8);
    ar(bytes);
  }
  static void read(auto& ar, std::bitset<size>& bits) {
    const auto bytes = ar.template read<std::array<std::uint8_t, least_bytes>>();
    for (std::size_t i = 0; i < size; ++i) bits[i] = (bytes[i / 8] >> i % 8 & 1) != 0;
  }
};

}  // namespace trimtab::parcels::detail

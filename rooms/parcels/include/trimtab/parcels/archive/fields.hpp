// The fields of an aggregate, as references.
#pragma once

#include <type_traits>
#include <utility>

#include "trimtab/parcels/archive/field_count.hpp"

namespace trimtab::parcels::detail {

template <class... T>
struct type_list {};

// Calls use(field, ...) with all fields of an aggregate with field_count<T> from 1 to 16.
template <class T, class function>
constexpr decltype(auto) with_fields(T& value, function&& use) {
  constexpr std::size_t count = field_count<std::remove_const_t<T>>;
  if constexpr (count == 1) {
    auto& [a] = value;
    return use(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    return use(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    return use(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    return use(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    return use(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    return use(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return use(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return use(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return use(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return use(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
    return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

struct list_field_types {
  template <class... field>
  type_list<field...> operator()(const field&...) const {
    return {};
  }
};

template <class T>
using field_types = decltype(with_fields(std::declval<T&>(), list_field_types()));

}  // namespace trimtab::parcels::detail

// Sets and maps: the number of elements, then the elements, a map's as key and value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trimtab/parcels/archive/form.hpp"

namespace trimtab::parcels::detail {

// Not a number is neither before, after nor equal to another key, which no container can hold.
template <class K>
K read_key(auto& ar) {
  K key = ar.template read<K>();
  if constexpr (std::is_floating_point_v<K>) {
    if (key != key) ar.fail("a number as a key", "a value that is not a number");
  }
  return key;
}

template <class container>
std::size_t read_element_count(auto& ar, container& values, std::size_t element_bytes) {
  const std::size_t count = ar.read_count(element_bytes);
  values.clear();
  if constexpr (requires { values.reserve(count); }) {
    values.reserve(std::min(count, ar.left() / sizeof(typename container::value_type)));
  }
  return count;
}

// Keys of ordered containers come in order, so that each belongs at the end.
void add_element(auto& ar, auto& values, auto&&... parts) {
  const std::size_t before = values.size();
  values.emplace_hint(values.end(), std::forward<decltype(parts)>(parts)...);
  if (values.size() == before) ar.fail("each key once", "a key again");
}

template <class container>
struct set_codec {
  using key = typename container::key_type;
  using parts = type_list<key>;
  static constexpr const char* shape = "set";

  static void write(auto& ar, const container& values) {
    const auto level = ar.deeper();
    ar.write_count(values.size());
    for (const key& value : values) ar(value);
  }

  static void read(auto& ar, container& values) {
    const auto level = ar.deeper();
    const std::size_t count = read_element_count(ar, values, least_bytes<key>());
    for (std::size_t i = 0; i < count; ++i) add_element(ar, values, read_key<key>(ar));
  }
};

template <class container>
struct map_codec {
  using key = typename container::key_type;
  using mapped = typename container::mapped_type;
  using parts = type_list<key, mapped>;
  static constexpr const char* shape = "map";

  static void write(auto& ar, const container& values) {
    const auto level = ar.deeper();
    ar.write_count(values.size());
    for (const auto& [name, value] : values) ar(name, value);
  }

  static void read(auto& ar, container& values) {
    const auto level = ar.deeper();
    const std::size_t count = read_element_count(ar, values, least_bytes<key>() + least_bytes<mapped>());
    for (std::size_t i = 0; i < count; ++i) {
      key name = read_key<key>(ar);
      add_element(ar, values, std::move(name), ar.template read<mapped>());
    }
  }
};

template <class... T>
struct codec<std::set<T...>> : set_codec<std::set<T...>> {};
template <class... T>
struct codec<std::multiset<T...>> : set_codec<std::multiset<T...>> {};
template <class... T>
struct codec<std::unordered_set<T...>> : set_codec<std::unordered_set<T...>> {};
template <class... T>
struct codec<std::unordered_multiset<T...>> : set_codec<std::unordered_multiset<T...>> {};
template <class... T>
struct codec<std::map<T...>> : map_codec<std::map<T...>> {};
template <class... T>
struct codec<std::multimap<T...>> : map_codec<std::multimap<T...>> {};
template <class... T>
struct codec<std::unordered_map<T...>> : map_codec<std::unordered_map<T...>> {};
template <class... T>
struct codec<std::unordered_multimap<T...>> : map_codec<std::unordered_multimap<T...>> {};

}  // namespace trimtab::parcels::detail

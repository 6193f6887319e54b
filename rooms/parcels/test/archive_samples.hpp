// Types of all kinds that can be sent, and random values of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <random>
#include <string>
#include <vector>

#include "trimtab/parcels/archive/archive.hpp"

namespace trimtab::parcels::samples {

using engine = std::mt19937_64;

enum class color : std::uint16_t { red, green };
enum class answer : bool { no, yes };

struct nothing {
  bool operator==(const nothing&) const = default;
};

// Copied as bytes, with room between its fields.
struct particle {
  double position[3];
  std::array<float, 2> charge;
  char name[5];
  color kind;
  bool operator==(const particle&) const = default;
};

struct switches {
  bool is_on;
  answer last;
  bool grid[2][3];
  bool operator==(const switches&) const = default;
};

// Field by field, with itself in it.
struct tree {
  int value = 0;
  std::pmr::vector<tree> children;
  std::unique_ptr<tree> sibling;
  nothing gap;
  bool operator==(const tree& other) const {
    return value == other.value && children == other.children && (sibling != nullptr) == (other.sibling != nullptr) &&
           (sibling == nullptr || *sibling == *other.sibling);
  }
};

struct sixteen {
  int a, b, c, d, e, f, g, h;
  std::pmr::string i, j, k, l, m, n, o, p;
  bool operator==(const sixteen&) const = default;
};

class with_member {
 public:
  with_member() = default;
  with_member(int number, std::string text) : m_number(number), m_text(std::move(text)) {}
  template <class archive>
  void serialize(archive& ar) {
    ar(m_number, m_text);
  }
  bool operator==(const with_member&) const = default;

 private:
  int m_number = 0;
  std::string m_text;
};

class with_function {
 public:
  std::map<int, std::string> names;
  explicit with_function(std::map<int, std::string> values = {}) : names(std::move(values)) {}
  bool operator==(const with_function&) const = default;
};

template <class archive>
void serialize(archive& ar, with_function& value) {
  ar(value.names);
}

// Writes no byte of its own.
class silent {
 public:
  silent() {}
  template <class archive>
  void serialize(archive&) {}
  bool operator==(const silent&) const = default;
};

class account {
 public:
  explicit account(std::string owner) : m_owner(std::move(owner)) {}
  template <class archive>
  void serialize(archive& ar) {
    ar(m_owner);
  }
  bool operator==(const account&) const = default;

 private:
  std::string m_owner;
};

class vector3 {
 public:
  explicit vector3(double x) : m_x(x) {}
  bool operator==(const vector3&) const = default;

 private:
  double m_x, m_y = 0, m_z = 0;
};

}  // namespace trimtab::parcels::samples

template <>
struct trimtab::parcels::construct<trimtab::parcels::samples::account> {
  static samples::account read(reader& ar) { return samples::account(ar.read<std::string>()); }
};

template <>
inline constexpr bool trimtab::parcels::is_bitwise<trimtab::parcels::samples::vector3> = true;

namespace trimtab::parcels::samples {

template <class T>
bool are_equal(const T& left, const T& right) {
  return left == right;
}
template <class T>
bool are_equal(const std::unique_ptr<T>& left, const std::unique_ptr<T>& right) {
  return left == nullptr || right == nullptr ? left == right : *left == *right;
}
template <class T>
bool are_equal(const std::vector<std::unique_ptr<T>>& left, const std::vector<std::unique_ptr<T>>& right) {
  return std::ranges::equal(left, right, [](const auto& a, const auto& b) { return are_equal(a, b); });
}
template <class T>
bool are_equal(const buffer<T>& left, const buffer<T>& right) {
  return std::ranges::equal(left, right);
}

// One function for all types: a class so that its members may call each other in any order.
class random_values {
 public:
  explicit random_values(engine& numbers) : m_numbers(numbers) {}

  std::size_t below(std::size_t bound) { return m_numbers() % bound; }

  template <class T>
  T value() {
    T result{};
    fill(result);
    return result;
  }

  template <class T>
    requires(std::is_integral_v<T>)
  void fill(T& value) {
    value = static_cast<T>(m_numbers() >> below(64));
  }
  template <class T>
    requires(std::is_floating_point_v<T>)
  void fill(T& value) {
    value = static_cast<T>(static_cast<double>(m_numbers()) / 1e12);
  }
  void fill(bool& value) { value = below(2) != 0; }
  template <class T>
    requires(std::is_enum_v<T>)
  void fill(T& value) {
    value = static_cast<T>(this->value<std::underlying_type_t<T>>());
  }
  template <class T, std::size_t size>
  void fill(T (&values)[size]) {
    for (T& value : values) fill(value);
  }
  template <class T, std::size_t size>
  void fill(std::array<T, size>& values) {
    for (T& value : values) fill(value);
  }
  template <class T>
  void fill(std::complex<T>& value) {
    value = {this->value<T>(), this->value<T>()};
  }
  template <class T, class period>
  void fill(std::chrono::duration<T, period>& value) {
    value = std::chrono::duration<T, period>(this->value<T>());
  }
  template <class clock, class T>
  void fill(std::chrono::time_point<clock, T>& value) {
    value = std::chrono::time_point<clock, T>(this->value<T>());
  }
  template <std::size_t size>
  void fill(std::bitset<size>& bits) {
    for (std::size_t i = 0; i < size; ++i) bits[i] = value<bool>();
  }
  // Sometimes longer than what one byte can count.
  template <class T>
    requires requires(T container) { container.insert(container.end(), container.begin(), container.end()); } ||
             requires(T container) { container.push_back({}); }
  void fill(T& container) {
    const std::size_t count = below(10) == 0 && sizeof(typename T::value_type) <= 8 ? below(600) : below(5);
    for (std::size_t i = 0; i < count; ++i) container.push_back(value<typename T::value_type>());
  }
  template <class T>
    requires requires { typename T::key_type; }
  void fill(T& container) {
    for (std::size_t i = below(6); i > 0; --i) {
      if constexpr (requires { typename T::mapped_type; }) {
        container.emplace(value<typename T::key_type>(), value<typename T::mapped_type>());
      } else {
        container.emplace(value<typename T::key_type>());
      }
    }
  }
  template <class T>
  void fill(buffer<T>& values) {
    values.resize_uninitialized(below(40));
    for (T& value : values) fill(value);
  }
  template <class A, class B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  template <class... T>
    requires(sizeof...(T) != 0)
  void fill(std::tuple<T...>& value) {
    std::apply([this](T&... part) { (this->fill(part), ...); }, value);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    if (below(3) != 0) value.emplace(this->value<T>());
  }
  template <class T>
  void fill(std::unique_ptr<T>& value) {
    if (below(3) != 0) value = std::make_unique<T>(this->value<T>());
  }
  template <class... T>
  void fill(std::variant<T...>& value) {
    std::size_t index = below(sizeof...(T));
    static_cast<void>(((index-- == 0 && (value = this->value<T>(), true)) || ...));
  }
  void fill(std::tuple<>&) {}
  void fill(std::monostate&) {}
  void fill(nothing&) {}
  void fill(silent&) {}
  void fill(with_member& value) { value = {this->value<int>(), this->value<std::string>()}; }
  void fill(with_function& value) { fill(value.names); }
  void fill(tree& value) {
    fill(value.value);
    if (below(3) == 0) value.children.resize(below(3));
    for (tree& child : value.children) fill(child);
    if (below(4) == 0) fill(value.sibling);
  }
  template <class T>
    requires(std::is_same_v<T, particle> || std::is_same_v<T, switches> || std::is_same_v<T, sixteen>)
  void fill(T& value) {
    detail::with_fields(value, [this](auto&... fields) { (this->fill(fields), ...); });
  }

 private:
  engine& m_numbers;
};

template <>
inline account random_values::value<account>() {
  return account(value<std::string>());
}
template <>
inline vector3 random_values::value<vector3>() {
  return vector3(value<double>());
}

// Containers take their memory from the default resource, where a test can count it.
using all_types = testing::Types<
    bool, char, std::int8_t, std::uint64_t, float, double, long double, wchar_t, std::byte, color, answer, nothing,
    std::monostate, particle, switches, tree, sixteen, with_member, with_function, silent, std::complex<float>,
    std::chrono::milliseconds, std::chrono::system_clock::time_point, std::bitset<70>, std::pmr::string, std::pmr::u16string,
    std::pmr::vector<double>, std::pmr::vector<bool>, std::pmr::vector<particle>, std::pmr::vector<switches>,
    std::pmr::vector<nothing>, std::pmr::vector<silent>, std::pmr::vector<account>, std::pmr::vector<vector3>,
    std::pmr::vector<std::pmr::vector<std::pmr::string>>, std::pmr::deque<int>, std::pmr::list<std::pmr::string>,
    std::pmr::list<bool>, std::pmr::map<std::pmr::string, int>, std::pmr::multimap<int, std::pmr::vector<int>>,
    std::pmr::unordered_map<std::uint64_t, account>, std::pmr::unordered_multimap<int, bool>, std::pmr::set<double>,
    std::pmr::multiset<int>, std::pmr::unordered_set<std::pmr::string>, std::pair<bool, std::pmr::string>, std::tuple<>>;
using more_types = testing::Types<
    std::tuple<int, std::pmr::string, bool>, std::array<std::pmr::string, 3>, std::array<int, 0>,
    std::optional<std::pmr::string>, std::optional<std::tuple<bool>>, std::variant<std::monostate, int, std::pmr::string>,
    std::unique_ptr<with_member>, std::unique_ptr<tree>, buffer<double>, buffer<particle>, std::vector<std::unique_ptr<int>>,
    std::pmr::map<std::pmr::string, std::pmr::vector<std::optional<particle>>>, std::variant<tree, std::pmr::vector<tree>>>;

}  // namespace trimtab::parcels::samples

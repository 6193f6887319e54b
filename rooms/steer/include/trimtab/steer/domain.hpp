// The values that a knob may have, in their order. A value is an integer; of categories, the number of one. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::steer {

using knob_value = std::int64_t;

class domain {
 public:
  // low, low + step, ... up to high. step > 0, low <= high, at most most_values of them.
  static std::optional<domain> range(knob_value low, knob_value high, knob_value step = 1);
  // Any numbers, at least one; sorted, each once.
  static std::optional<domain> set(std::vector<knob_value> values);
  // Powers of two from low to high, both among them. low >= 1.
  static std::optional<domain> powers_of_two(knob_value low, knob_value high);
  // Names without an order, each once; the value is a name's place.
  static std::optional<domain> categories(std::vector<std::string> names);

  static constexpr std::size_t most_values = 1u << 20;

  std::size_t size() const noexcept { return m_values.size(); }
  knob_value at(std::size_t index) const { return m_values.at(index); }
  bool is_ordered() const noexcept { return m_names.empty(); }
  bool contains(knob_value value) const noexcept { return index_of(value).has_value(); }
  std::optional<std::size_t> index_of(knob_value value) const noexcept;
  std::size_t nearest_index(knob_value value) const noexcept;

  // As people and files have it: a number, or a category's name. For a value of the domain.
  std::string text_of(knob_value value) const;
  std::optional<knob_value> value_of(std::string_view text) const noexcept;

  bool operator==(const domain&) const = default;

 private:
  explicit domain(std::vector<knob_value> values, std::vector<std::string> names = {})
      : m_values(std::move(values)), m_names(std::move(names)) {}

  std::vector<knob_value> m_values;  // rising
  std::vector<std::string> m_names;  // of categories; empty: numbers
};

// Of values that are the code's own and must be good: throws std::logic_error where they are not.
domain certain(std::optional<domain> candidate);

}  // namespace trimtab::steer

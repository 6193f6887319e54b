#include "trimtab/steer/domain.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>

namespace trimtab::steer {

std::optional<domain> domain::range(knob_value low, knob_value high, knob_value step) {
  if (step <= 0 || low > high) return std::nullopt;
  // Unsigned: the distance of two values may be more than a value can hold.
  const std::uint64_t distance = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t steps = distance / static_cast<std::uint64_t>(step);
  if (steps >= most_values) return std::nullopt;
  std::vector<knob_value> values;
  values.reserve(steps + 1);
  for (std::uint64_t i = 0; i <= steps; ++i)
    values.push_back(static_cast<knob_value>(static_cast<std::uint64_t>(low) + i * static_cast<std::uint64_t>(step)));
  return domain(std::move(values));
}

std::optional<domain> domain::set(std::vector<knob_value> values) {
  if (values.empty() || values.size() > most_values) return std::nullopt;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return domain(std::move(values));
}

std::optional<domain> domain::powers_of_two(knob_value low, knob_value high) {
  if (low < 1 || low > high) return std::nullopt;
  if (!std::has_single_bit(static_cast<std::uint64_t>(low)) || !std::has_single_bit(static_cast<std::uint64_t>(high)))
    return std::nullopt;
  std::vector<knob_value> values{low};
  while (values.back() < high) values.push_back(values.back() * 2);
  return domain(std::move(values));
}

std::optional<domain> domain::categories(std::vector<std::string> names) {
  if (names.empty() || names.size() > most_values) return std::nullopt;
  std::vector<knob_value> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
                                names.begin() + static_cast<std::ptrdiff_t>(i))
      return std::nullopt;
    values.push_back(static_cast<knob_value>(i));
  }
  return domain(std::move(values), std::move(names));
}

std::optional<std::size_t> domain::index_of(knob_value value) const noexcept {
  const auto place = std::lower_bound(m_values.begin(), m_values.end(), value);
  if (place == m_values.end() || *place != value) return std::nullopt;
  return static_cast<std::size_t>(place - m_values.begin());
}

std::size_t domain::nearest_index(knob_value value) const noexcept {
  const auto place = std::lower_bound(m_values.begin(), m_values.end(), value);
  if (place == m_values.end()) return m_values.size() - 1;
  const auto index = static_cast<std::size_t>(place - m_values.begin());
  if (index == 0) return 0;
  const auto up = static_cast<std::uint64_t>(*place) - static_cast<std::uint64_t>(value);
  const auto down = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(m_values[index - 1]);
  return up < down ? index : index - 1;
}

std::string domain::text_of(knob_value value) const {
  const auto index = index_of(value);
  return index && !m_names.empty() ? m_names[*index] : std::to_string(value);
}

std::optional<knob_value> domain::value_of(std::string_view text) const noexcept {
  for (std::size_t i = 0; i < m_names.size(); ++i)
    if (m_names[i] == text) return m_values[i];
  if (!m_names.empty()) return std::nullopt;
  knob_value value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !contains(value)) return std::nullopt;
  return value;
}

domain certain(std::optional<domain> candidate) {
  if (!candidate) throw std::logic_error("a domain without values, or with too many");
  return std::move(*candidate);
}

}  // namespace trimtab::steer

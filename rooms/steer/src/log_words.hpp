// Lines of words: what the text forms of the room are made of.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "trimtab/steer/log.hpp"

namespace trimtab::steer {

// Takes a line apart; after the first word that is missing or wrong, everything is wrong.
class words {
 public:
  explicit words(std::string_view line) : m_rest(line) {}

  bool is_good() const noexcept { return m_is_good; }
  bool is_over() const noexcept { return m_rest.empty(); }
  std::string_view raw() {
    if (m_rest.empty()) m_is_good = false;
    const std::size_t end = std::min(m_rest.find(' '), m_rest.size());
    const std::string_view word = m_rest.substr(0, end);
    m_rest.remove_prefix(std::min(end + 1, m_rest.size()));
    return word;
  }
  std::string text() {
    const auto word = from_word(raw());
    m_is_good = m_is_good && word.has_value();
    return word.value_or("");
  }
  template <class integer>
  integer number() {
    const std::string_view word = raw();
    integer value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    m_is_good = m_is_good && error == std::errc{} && end == word.data() + word.size();
    return value;
  }
  double real() {
    std::string_view word = raw();
    const bool is_negative = word.starts_with('-');
    if (is_negative) word.remove_prefix(1);
    const bool is_hex = word.starts_with("0x");
    if (is_hex) word.remove_prefix(2);
    double value = 0;
    const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, format);
    m_is_good = m_is_good && error == std::errc{} && end == word.data() + word.size() && !word.starts_with('-');
    return is_negative ? -value : value;
  }

 private:
  std::string_view m_rest;
  bool m_is_good = true;
};

}  // namespace trimtab::steer

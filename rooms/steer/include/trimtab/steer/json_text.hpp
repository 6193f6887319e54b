// JSON, one value after the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

// Begin and end of lists and objects are by hand.
class json {
 public:
  std::string take() { return std::move(m_text); }
  json& raw(std::string_view text) {
    m_text += text;
    return *this;
  }
  // A comma if it is not the first of its list or object.
  json& next() {
    if (m_text.back() != '[' && m_text.back() != '{') m_text += ',';
    return *this;
  }
  json& text(std::string_view value) {
    m_text += '"';
    for (const char letter : value) {
      char escaped[8];
      if (letter == '"' || letter == '\\')
        m_text.append(1, '\\').append(1, letter);
      else if (static_cast<unsigned char>(letter) < 0x20) {
        std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(letter));
        m_text += escaped;
      } else
        m_text += letter;
    }
    m_text += '"';
    return *this;
  }
  json& number(double value) {
    char written[40];
    std::snprintf(written, sizeof written, "%.17g", value);
    return raw(std::isfinite(value) ? written : "null");
  }
  json& number(std::uint64_t value) { return raw(std::to_string(value)); }
  json& truth(bool value) { return raw(value ? "true" : "false"); }
  json& name(std::string_view value) { return next().text(value).raw(":"); }
  json& all(std::string_view its_name, std::span<const figure> figures) {
    name(its_name).raw("{");
    for (const figure& figure : figures) name(figure.name).number(figure.value);
    return raw("}");
  }

 private:
  std::string m_text;
};

}  // namespace trimtab::steer

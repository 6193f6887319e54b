#include "trimtab/options/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace trimtab::options {

namespace {

constexpr std::size_t no_word = ~std::size_t{0};

std::size_t index_of(std::string_view text, word_source source) noexcept {
  for (std::size_t index = 0; !source(index).empty(); ++index)
    if (source(index) == text) return index;
  return no_word;
}

std::optional<value> check_number(const values& allowed, const char* text) noexcept {
  const char* const end = text + std::strlen(text);
  value checked{text};
  const auto [stopped, error] = std::from_chars(text, end, checked.number);
  const bool has_leading_zero = allowed.kind == value_kind::flag && end - text != 1;
  const bool is_number = error == std::errc() && stopped == end && !has_leading_zero;
  if (!is_number || checked.number < allowed.least || checked.number > allowed.most) return std::nullopt;
  return checked;
}

bool is_file(const values& allowed, std::string_view text) noexcept {
  const std::string_view ending = allowed.file_ending;
  return !ending.empty() && text.size() > ending.size() && text.ends_with(ending);
}

std::optional<value> check_word(const values& allowed, const char* text) noexcept {
  const std::string_view all = text;
  const std::size_t length = allowed.has_tunables == nullptr ? all.size() : std::min(all.find(':'), all.size());
  const std::size_t rest = std::min(length + 1, all.size());
  value checked{.text = text, .index = index_of(all.substr(0, length), allowed.words), .tunables = text + rest};
  if (checked.index != no_word) {
    const bool is_whole = rest == all.size() || allowed.has_tunables(all.substr(0, length));
    return is_whole ? std::optional(checked) : std::nullopt;
  }
  if (!is_file(allowed, all)) return std::nullopt;
  return value{.text = text, .index = value::is_file};
}

std::optional<value> check_words(const values& allowed, const char* text) noexcept {
  value checked{text};
  for (std::string_view left = text; !left.empty();) {
    const std::string_view next = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), next.size() + 1));
    const std::size_t index = index_of(next, allowed.words);
    if (index == no_word) return std::nullopt;
    checked.chosen |= std::uint64_t{1} << index;
  }
  return checked;
}

std::string listed(word_source source) {
  std::string all;
  for (std::size_t index = 0; !source(index).empty(); ++index) all.append(index == 0 ? "" : ", ").append(source(index));
  return all;
}

// What a word may be besides.
std::string further(const values& allowed) {
  std::string all;
  if (!allowed.file_ending.empty()) all.append(", or a file *").append(allowed.file_ending);
  if (allowed.has_tunables != nullptr) all.append("; with tunables: WORD:NAME=VALUE,...");
  return all;
}

}  // namespace

std::optional<value> check(const values& allowed, const char* text) noexcept {
  switch (allowed.kind) {
    case value_kind::flag:
    case value_kind::number:
      return check_number(allowed, text);
    case value_kind::word:
      return check_word(allowed, text);
    case value_kind::words:
      return check_words(allowed, text);
    default:
      return value{text};
  }
}

std::string expected(const values& allowed) {
  switch (allowed.kind) {
    case value_kind::path:
      return "a path";
    case value_kind::flag:
      return "0 or 1";
    case value_kind::number:
      return "a number from " + summary(allowed);
    case value_kind::word:
      return "one of " + summary(allowed);
    case value_kind::words:
      return "a comma list of " + listed(allowed.words);
    case value_kind::selection:
      return "a comma list of " + listed(allowed.words) + ", each with + in front to add it to the defaults; or none";
    default:
      return "a text";
  }
}

std::string summary(const values& allowed) {
  switch (allowed.kind) {
    case value_kind::number:
      return std::to_string(allowed.least) + " to " + std::to_string(allowed.most);
    case value_kind::word:
      return listed(allowed.words) + further(allowed);
    default:
      return expected(allowed);
  }
}

}  // namespace trimtab::options

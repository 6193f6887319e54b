// Which values an option may have: one description from which its parser, its help, the tables of the documentation and the
// export for the command are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab::options {

enum class value_kind : std::uint8_t {
  text,
  path,
  flag,       // 0 or 1
  number,     // whole, decimal
  word,       // one of some words
  words,      // a comma list of some words, empty: none of them
  selection,  // a comma list of some words, each behind + where it adds to a default; or none
};

// The words of an option by index; an empty one after the last. A function, so that an option can offer what the table of
// another room lists.
using word_source = std::string_view (*)(std::size_t index) noexcept;

template <const auto& array>
std::string_view word_of(std::size_t index) noexcept {
  return index < std::size(array) ? std::string_view(array[index]) : std::string_view();
}

struct values {
  value_kind kind = value_kind::text;
  std::uint64_t least = 0, most = 0;                      // of a number
  word_source words = nullptr;                            // of word, words and selection
  std::string_view file_ending = {};                      // of word: a file whose name ends like this is a value, too
  bool (*has_tunables)(std::string_view word) = nullptr;  // of word: WORD:NAME=VALUE,... is a value, too
};

constexpr values any_text() noexcept { return {}; }
constexpr values path() noexcept { return {.kind = value_kind::path}; }
constexpr values flag() noexcept { return {.kind = value_kind::flag, .most = 1}; }
constexpr values number(std::uint64_t smallest, std::uint64_t largest) noexcept {
  return {.kind = value_kind::number, .least = smallest, .most = largest};
}
constexpr values word(word_source source) noexcept { return {.kind = value_kind::word, .words = source}; }
constexpr values words(word_source source) noexcept { return {.kind = value_kind::words, .words = source}; }
constexpr values selection(word_source source) noexcept { return {.kind = value_kind::selection, .words = source}; }

// A value that was found to be allowed.
struct value {
  static constexpr std::size_t is_file = ~std::size_t{0};

  const char* text;           // all of it
  std::uint64_t number = 0;   // of a flag or number
  std::size_t index = 0;      // of a word; is_file: the text is a file's name
  const char* tunables = "";  // behind the word and its colon
  std::uint64_t chosen = 0;   // of words: one bit for each, the first word's is the lowest

  bool is_set() const noexcept { return number != 0; }
  bool has(std::size_t word) const noexcept { return (chosen >> word & 1) != 0; }
};

// Nothing: it is not allowed. Allocates nothing. The words of a selection are not checked: whoever uses them reports unknown
// ones, and uses the others.
std::optional<value> check(const values& allowed, const char* text) noexcept;

// "a number from 0 to 4096", "one of local, hierarchy": behind "expected".
std::string expected(const values& allowed);
// "0 to 4096", "local, hierarchy": in a table.
std::string summary(const values& allowed);

}  // namespace trimtab::options

#include "log_words.hpp"

namespace trimtab::steer {

namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";

bool is_plain(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         std::string_view("-_.:/+").find(letter) != std::string_view::npos;
}

}  // namespace

std::string exactly(double value) {
  char text[64] = "-0x";
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const auto [end, error] = std::to_chars(text + 3, text + sizeof text, std::fabs(value), std::chars_format::hex);
  const char* const begin = std::signbit(value) ? text : text + 1;
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string to_word(std::string_view text) {
  if (text.empty()) return "%";  // a word has at least one letter
  std::string word;
  for (const char letter : text) {
    if (is_plain(letter)) {
      word += letter;
      continue;
    }
    const auto code = static_cast<unsigned char>(letter);
    word += {'%', hex_digits[code >> 4], hex_digits[code & 15]};
  }
  return word;
}

std::optional<std::string> from_word(std::string_view word) {
  if (word == "%") return "";
  if (word.empty()) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      if (!is_plain(word[i])) return std::nullopt;
      text += word[i];
      continue;
    }
    if (i + 2 >= word.size()) return std::nullopt;
    const std::size_t high = hex_digits.find(word[i + 1]), low = hex_digits.find(word[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

}  // namespace trimtab::steer

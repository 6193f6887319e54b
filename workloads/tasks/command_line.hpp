// What every workload of the task runtime takes: its own numbers and words, --no-check, and --trimtab:NAME=VALUE.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/runtime/options.hpp"
#include "trimtab/tasks.hpp"

namespace workload {

// Errors name program, option, value and what is allowed, and leave with exit code 2.
class command_line {
 public:
  command_line(int argc, char** argv) : m_program(argv[0]) {
    const std::size_t slash = m_program.rfind('/');
    if (slash != m_program.npos) m_program.erase(0, slash + 1);
    try {
      runtime = trimtab::options_from(argc, argv);
    } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "%s: %s\n", m_program.c_str(), error.what());
      std::exit(2);
    }
    m_words.assign(argv + 1, argv + argc);
    is_checked = !consume("--no-check");
  }

  // `--name VALUE`; `otherwise` where it is not given.
  std::int64_t number(const char* name, std::int64_t otherwise, std::int64_t minimum = 1,
                      std::int64_t limit = 10'000'000'000) {
    std::string text;
    if (!take_value(name, text)) return otherwise;
    return number_of(name, text, minimum, limit);
  }

  // `--name WORD`, one of `allowed`; the first of them where it is not given.
  std::string word(const char* name, std::initializer_list<std::string_view> allowed) {
    std::string text(*allowed.begin());
    if (!take_value(name, text)) return text;
    std::string listed;
    for (const std::string_view element : allowed) {
      if (text == element) return text;
      listed.append(listed.empty() ? "" : ", ").append(element);
    }
    fail(name, "one of " + listed, text);
  }

  // After all have been asked for: what is left is unknown.
  void end() {
    if (m_words.empty()) return;
    std::string listed = "--no-check, --trimtab:help";
    for (const std::string& element : m_options) listed += ", " + element;
    fail(m_words.front().c_str(), listed, m_words.front());
  }

  [[noreturn]] void fail(const char* option, const std::string& expected, const std::string& actual) const {
    std::fprintf(stderr, "%s: %s: expected %s, found '%s'\n", m_program.c_str(), option, expected.c_str(), actual.c_str());
    std::exit(2);
  }

  const std::string& program() const noexcept { return m_program; }

  trimtab::runtime_options runtime;
  bool is_checked = true;

 private:
  std::int64_t number_of(const char* name, const std::string& text, std::int64_t minimum, std::int64_t limit) const {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end || value < minimum || value > limit)
      fail(name, "a number from " + std::to_string(minimum) + " to " + std::to_string(limit), text);
    return value;
  }

  bool consume(std::string_view name) {
    for (std::size_t i = 0; i < m_words.size(); ++i)
      if (m_words[i] == name) {
        m_words.erase(m_words.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    return false;
  }

  bool take_value(const char* name, std::string& value) {
    m_options.emplace_back(name);
    for (std::size_t i = 0; i < m_words.size(); ++i)
      if (m_words[i] == name) {
        if (i + 1 == m_words.size()) fail(name, "a value after it", "");
        value = m_words[i + 1];
        const auto index = m_words.begin() + static_cast<std::ptrdiff_t>(i);
        m_words.erase(index, index + 2);
        return true;
      }
    return false;
  }

  std::string m_program;
  std::vector<std::string> m_words;
  std::vector<std::string> m_options;
};

}  // namespace workload

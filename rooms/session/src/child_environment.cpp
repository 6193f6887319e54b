#include "child_environment.hpp"

#include <cstring>

#include "options.hpp"

namespace trimtab::session {

namespace {

bool names(const char* entry, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// Text in a buffer that may be too small: counts what it needs.
class bounded_text {
 public:
  bounded_text(char* text, std::size_t bytes) noexcept : m_text(text), m_bytes(bytes) {
    if (m_bytes > 0) m_text[0] = '\0';
  }
  void add(char letter) noexcept {
    if (m_length + 1 < m_bytes) {
      m_text[m_length] = letter;
      m_text[m_length + 1] = '\0';
    }
    ++m_length;
  }
  void add(const char* text) noexcept {
    for (; *text != '\0'; ++text) add(*text);
  }
  void add(const char* text, std::size_t length) noexcept {
    for (std::size_t i = 0; i < length; ++i) add(text[i]);
  }
  // As one word of a shell, whatever is in it.
  void add_quoted(const char* text) noexcept {
    add('\'');
    for (; *text != '\0'; ++text)
      if (*text == '\'')
        add("'\\''");
      else
        add(*text);
    add('\'');
  }
  std::size_t length() const noexcept { return m_length; }

 private:
  char* m_text;
  std::size_t m_bytes;
  std::size_t m_length = 0;
};

}  // namespace

bool replaced_variable::is(const char* entry) const noexcept { return std::strcmp(entry, started_with) == 0; }

const char* child_environment::copied(const char* text, std::size_t length) noexcept {
  if (length >= sizeof m_text - m_used) return nullptr;
  char* const copy = m_text + m_used;
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  m_used += length + 1;
  return copy;
}

void child_environment::configure(const char* lines, const char* (*look_up)(const char* name)) noexcept {
  while (lines != nullptr && *lines != '\0') {
    const std::size_t length = std::strcspn(lines, "\n");
    if (length > 0) add(lines, length, look_up);
    lines += length;
    if (*lines == '\n') ++lines;
  }
}

void child_environment::add(const char* line, std::size_t length, const char* (*look_up)(const char* name)) noexcept {
  const void* const sign = std::memchr(line, '=', length);
  const std::size_t name_length = sign == nullptr ? length : static_cast<std::size_t>(static_cast<const char*>(sign) - line);
  if (m_count == std::size(m_variables)) return;
  const char* const name = copied(line, name_length);
  const char* const value = name == nullptr ? nullptr : look_up(name);
  if (value == nullptr) return;
  char* const started_with = m_text + m_used;
  if (copied(name, name_length) == nullptr) return;
  // In the place of the 0 behind the name.
  started_with[name_length] = '=';
  if (copied(value, std::strlen(value)) == nullptr) return;
  const char* const users = sign == nullptr ? nullptr : copied(line, length);
  if (sign != nullptr && users == nullptr) return;
  m_variables[m_count++] = {started_with, users, name_length};
}

void child_environment::filter(char* const* entries, char** filtered) const noexcept {
  for (; *entries != nullptr; ++entries) {
    char* entry = *entries;
    if (names(entry, users_values_option.variable)) continue;
    for (const replaced_variable& variable : variables())
      if (variable.is(entry)) {
        entry = const_cast<char*>(variable.users);
        break;
      }
    if (entry != nullptr) *filtered++ = entry;
  }
  *filtered = nullptr;
}

std::size_t child_environment::shell_prefix(char* text, std::size_t bytes,
                                            const char* (*look_up)(const char* name)) const noexcept {
  bounded_text prefix(text, bytes);
  prefix.add("unset ");
  prefix.add(users_values_option.variable);
  prefix.add("; ");
  for (const replaced_variable& variable : variables()) {
    char name[64] = {};
    if (variable.name_length >= sizeof name) continue;
    std::memcpy(name, variable.started_with, variable.name_length);
    const char* const value = look_up(name);
    if (value == nullptr || std::strcmp(value, variable.started_with + variable.name_length + 1) != 0) continue;
    prefix.add(variable.users == nullptr ? "unset " : "export ");
    prefix.add(name);
    if (variable.users != nullptr) {
      prefix.add('=');
      prefix.add_quoted(variable.users + variable.name_length + 1);
    }
    prefix.add("; ");
  }
  return prefix.length();
}

std::size_t count_entries(char* const* entries) noexcept {
  std::size_t count = 0;
  while (entries[count] != nullptr) ++count;
  return count;
}

}  // namespace trimtab::session

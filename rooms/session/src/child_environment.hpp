// Start values that are the program's alone: programs that it starts get what the user had set, in the place of what
// `trimtab tune` has found for this one. The program itself keeps them, also over an exec: libraries that it loads later
// read them, too.
#pragma once

#include <cstddef>
#include <span>

namespace trimtab::session {

// A variable with another value for programs that this one starts.
struct replaced_variable {
  const char* started_with = nullptr;  // NAME=VALUE, as the program was started
  const char* users = nullptr;         // NAME=VALUE, as the user had it; nullptr: not set
  std::size_t name_length = 0;

  // Whether an entry of an environment is this one, unchanged: what the program sets itself stays.
  bool is(const char* entry) const noexcept;
};

// Not thread-safe, allocates nothing: filled while the library loads, then only read.
class child_environment {
 public:
  // `lines`: NAME=VALUE or NAME, one a line; nullptr: none. look_up(name) returns the program's value or nullptr. What finds
  // no room stays as it is.
  void configure(const char* lines, const char* (*look_up)(const char* name)) noexcept;

  bool is_empty() const noexcept { return m_count == 0; }
  std::span<const replaced_variable> variables() const noexcept { return {m_variables, m_count}; }

  // The environment of a program that is started: `filtered` has room for all of `entries` and the null pointer behind them.
  void filter(char* const* entries, char** filtered) const noexcept;
  // What a shell is to do first, so that a command runs in this environment; writes at most `bytes`, the last of them 0.
  // Returns the length that it needs. look_up as above, now.
  std::size_t shell_prefix(char* text, std::size_t bytes, const char* (*look_up)(const char* name)) const noexcept;

 private:
  const char* copied(const char* text, std::size_t length) noexcept;
  void add(const char* line, std::size_t length, const char* (*look_up)(const char* name)) noexcept;

  replaced_variable m_variables[32];
  std::size_t m_count = 0;
  char m_text[8192] = {};
  std::size_t m_used = 0;
};

std::size_t count_entries(char* const* entries) noexcept;

}  // namespace trimtab::session

// Programs that the watched one starts by posix_spawn, system and popen: in the C library these start processes without any
// function that could be called in our place. Children of fork and vfork call exec (preload_exits.cpp).
#include "preload_children.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "trimtab/base/hook.hpp"
#include "trimtab/base/own_heap.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/options/environment.hpp"

namespace trimtab::session {

namespace {

using spawn_function = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                           char* const*);
using system_function = int(const char*);
using popen_function = FILE*(const char*, const char*);

constinit child_environment kept;
constinit pid_t program = 0;  // whose start values they are

template <class function>
function* next(const char* name) noexcept {
  return reinterpret_cast<function*>(dlsym(RTLD_NEXT, name));
}

const char* look_up(const char* name) noexcept {
  return options::value_of({.variable = name, .standard = "", .allowed = options::any_text(), .help = ""});
}

// A command for a shell with the user's own values, in memory that is ours.
class command_of_child {
 public:
  explicit command_of_child(const char* command) noexcept : m_command(command) {
    if (command == nullptr || kept.is_empty()) return;
    const std::size_t length = kept.shell_prefix(nullptr, 0, look_up), bytes = length + std::strlen(command) + 1;
    m_text = static_cast<char*>(base::own_heap::take(bytes));
    if (m_text == nullptr) return;
    kept.shell_prefix(m_text, length + 1, look_up);
    std::strcpy(m_text + length, command);
    m_command = m_text;
  }
  ~command_of_child() { base::own_heap::give(m_text); }
  command_of_child(const command_of_child&) = delete;
  command_of_child& operator=(const command_of_child&) = delete;
  const char* text() const noexcept { return m_command; }

 private:
  const char* m_command;
  char* m_text = nullptr;
};

struct spawn_arguments {
  pid_t* child;
  const char* path;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* arguments;
  char* const* variables;
};

int spawn(spawn_function* forward, const spawn_arguments& with) {
  char* const* variables = with.variables;
  if (!kept.is_empty() && variables != nullptr) {
    auto** const filtered = static_cast<char**>(__builtin_alloca((count_entries(variables) + 1) * sizeof(char*)));
    kept.filter(variables, filtered);
    variables = filtered;
  }
  return forward(with.child, with.path, with.actions, with.attributes, with.arguments, variables);
}

}  // namespace

void keep_for_children(const char* users_values) noexcept {
  if (users_values == nullptr) return;
  kept.configure(users_values, look_up);
  program = getpid();
}

bool is_child_filtered() noexcept { return !kept.is_empty() && base::may_call_system() && getpid() != program; }
const child_environment& environment_for_children() noexcept { return kept; }

}  // namespace trimtab::session

using namespace trimtab::session;

TRIMTAB_HOOK int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const* arguments, char* const* variables) {
  return spawn(next<spawn_function>("posix_spawn"), {child, path, actions, attributes, arguments, variables});
}

TRIMTAB_HOOK int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const* arguments, char* const* variables) {
  return spawn(next<spawn_function>("posix_spawnp"), {child, file, actions, attributes, arguments, variables});
}

TRIMTAB_HOOK int system(const char* command) {
  const command_of_child started(command);
  return next<system_function>("system")(started.text());
}

TRIMTAB_HOOK FILE* popen(const char* command, const char* mode) {
  const command_of_child started(command);
  return next<popen_function>("popen")(started.text(), mode);
}

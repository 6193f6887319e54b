// The ends that no destructor sees: exec, _exit, quick_exit. What was put off is written and the process's files
// are closed, without a lock and without waiting: a signal handler may end a program, too.
// In the child of a vfork nothing is done, since its memory is still its parent's.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "preload_children.hpp"
#include "trimtab/base/hook.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/openmp/openmp.hpp"
#include "trimtab/options/environment.hpp"

namespace trimtab::session {

namespace {

using observe::process_state;
using observe::the_recorder;

// Looked up while the library loads: later a signal handler may ask.
template <class function>
function* next(const char* name) noexcept {
  return reinterpret_cast<function*>(dlsym(RTLD_NEXT, name));
}
using exit_function = void(int);
using execv_function = int(const char*, char* const*);
using execve_function = int(const char*, char* const*, char* const*);
using fexecve_function = int(int, char* const*, char* const*);

struct real_functions {
  exit_function* exit_now = nullptr;
  execv_function* execv = nullptr;
  execv_function* execvp = nullptr;
  execve_function* execve = nullptr;
  execve_function* execvpe = nullptr;
  fexecve_function* fexecve = nullptr;
};
constinit real_functions real;

[[gnu::constructor]] void attach_exits() noexcept {
  real = {next<exit_function>("_exit"),    next<execv_function>("execv"),    next<execv_function>("execvp"),
          next<execve_function>("execve"), next<execve_function>("execvpe"), next<fexecve_function>("fexecve")};
  std::at_quick_exit([] {
    if (!the_recorder.is_on()) return;
    openmp::settle();
    the_recorder.close(process_state::exited);
  });
}

// What stands when the program goes, and goes on when it does not (a failed exec).
class ending {
 public:
  explicit ending(process_state state) noexcept : m_is_ours(the_recorder.is_on() && the_recorder.is_of_this_process()) {
    if (!m_is_ours) return;
    openmp::settle();
    the_recorder.close(state);
  }
  ~ending() {
    if (m_is_ours) the_recorder.reopen();
  }
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;

 private:
  bool m_is_ours;
};

// execl and its like: the arguments up to the first null pointer, counted first, then laid out on the stack.
std::size_t count_arguments(va_list list) noexcept {
  va_list copy;
  va_copy(copy, list);
  std::size_t count = 1;  // the first stands before the list
  while (va_arg(copy, char*) != nullptr) ++count;
  va_end(copy);
  return count;
}
void read_arguments(const char* first, va_list& list, std::size_t count, char** values) noexcept {
  values[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i <= count; ++i) values[i] = va_arg(list, char*);  // the null pointer, too
}

// In the frame of its caller, since the child of a vfork may not allocate.
#define TRIMTAB_FILTERED(variables) \
  filtered_into(variables, static_cast<char**>(__builtin_alloca((count_entries(variables) + 1) * sizeof(char*))))
char* const* filtered_into(char* const* variables, char** filtered) noexcept {
  environment_for_children().filter(variables, filtered);
  return filtered;
}

// With the program's environment: that is the C library's to find, which `forward` is of.
int run(execve_function* forward, const char* path, char* const* arguments, char* const* variables) noexcept {
  const ending last(process_state::replaced);
  if (variables == nullptr || !is_child_filtered()) return forward(path, arguments, variables);
  return forward(path, arguments, TRIMTAB_FILTERED(variables));
}
// `with_variables`: the same with an environment of its own, for a child.
int run(execv_function* forward, execve_function* with_variables, const char* path, char* const* arguments) noexcept {
  if (is_child_filtered()) return run(with_variables, path, arguments, options::all_variables());
  const ending last(process_state::replaced);
  return forward(path, arguments);
}

}  // namespace

}  // namespace trimtab::session

using namespace trimtab::session;

TRIMTAB_HOOK void _exit(int code) {
  const ending last(process_state::exited);
  if (real.exit_now != nullptr) real.exit_now(code);
  for (;;) syscall(SYS_exit_group, code);
}

TRIMTAB_HOOK void _Exit(int code) { _exit(code); }

TRIMTAB_HOOK int execve(const char* path, char* const* arguments, char* const* variables) {
  return run(real.execve, path, arguments, variables);
}

TRIMTAB_HOOK int execv(const char* path, char* const* arguments) { return run(real.execv, real.execve, path, arguments); }

TRIMTAB_HOOK int execvpe(const char* file, char* const* arguments, char* const* variables) {
  return run(real.execvpe, file, arguments, variables);
}

TRIMTAB_HOOK int execvp(const char* file, char* const* arguments) { return run(real.execvp, real.execvpe, file, arguments); }

TRIMTAB_HOOK int fexecve(int file, char* const* arguments, char* const* variables) {
  const ending last(process_state::replaced);
  if (variables == nullptr || !is_child_filtered()) return real.fexecve(file, arguments, variables);
  return real.fexecve(file, arguments, TRIMTAB_FILTERED(variables));
}

#define TRIMTAB_LIST                                                                           \
  va_list list;                                                                                \
  va_start(list, first);                                                                       \
  const std::size_t count = count_arguments(list);                                             \
  auto** const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  read_arguments(first, list, count, arguments)

TRIMTAB_HOOK int execl(const char* path, const char* first, ...) {
  TRIMTAB_LIST;
  va_end(list);
  return run(real.execv, real.execve, path, arguments);
}

TRIMTAB_HOOK int execlp(const char* file, const char* first, ...) {
  TRIMTAB_LIST;
  va_end(list);
  return run(real.execvp, real.execvpe, file, arguments);
}

TRIMTAB_HOOK int execle(const char* path, const char* first, ...) {
  TRIMTAB_LIST;
  char* const* const variables = va_arg(list, char* const*);
  va_end(list);
  return run(real.execve, path, arguments, variables);
}

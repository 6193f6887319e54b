// A program may install a filter of system calls (seccomp), which ends the process at a call that the filter does not
// expect. Our threads end before the filter takes effect, and from then on we make no system call of our own: recording
// goes on in the memory that is mapped. What the program then executes is not watched, since a new image has to make its
// files. A program that installs a filter without the C library (the instruction itself) is not noticed.
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "options.hpp"
#include "steering.hpp"
#include "trimtab/base/hook.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/options/environment.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

// Looked up while the library loads, or by whoever calls before: later a signal handler may ask.
// Six arguments of a system call lie in registers and on the stack where these lie, whatever number the caller gave. So both
// functions can be called on with the same arguments.
using syscall_function = long(long, long, long, long, long, long, long);
using prctl_function = int(int, long, long, long, long);

template <class function>
function* next(std::atomic<function*>& cached, const char* name) noexcept {
  function* function_found = cached.load(std::memory_order_relaxed);
  if (function_found != nullptr) [[likely]]
    return function_found;
  function_found = reinterpret_cast<function*>(dlsym(RTLD_NEXT, name));
  cached.store(function_found, std::memory_order_relaxed);
  return function_found;
}
constinit std::atomic<syscall_function*> real_syscall{nullptr};
constinit std::atomic<prctl_function*> real_prctl{nullptr};

[[gnu::constructor]] void look_up() noexcept {
  next(real_syscall, "syscall");
  next(real_prctl, "prctl");
}

// Without a filter the kernel only says whether it knows the call.
bool installs_filter(long operation, long filter) noexcept {
  return operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter != 0);
}
bool installs_filter_by_prctl(long option, long mode, long filter) noexcept {
  if (option != PR_SET_SECCOMP) return false;
  return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}

void report() noexcept {
  constexpr auto reason = "the program has installed a filter of system calls (seccomp), and ours might end it";
  constexpr auto remedy = "switch the filter off to see them";
  for (const char* const what : {"figures over time after the filter", "threads and programs started after the filter"})
    the_recorder.unavailable(what, reason, remedy);
  if (the_recorder.traces()) the_recorder.unavailable("rest of the trace", reason, remedy);
}

// False: nothing was done, since nothing was to be done.
bool prepare_for_filter() noexcept {
  if (!base::may_call_system() || the_recorder.is_off()) return false;
  const int saved = errno;
  // In the child of a fork there are no threads of ours, and the child of a vfork has its parent's memory.
  if (the_recorder.is_on()) {
    if (!the_recorder.is_of_this_process()) return false;
    steering_end_thread();
    // What comes later goes into memory that is mapped.
    the_recorder.directory();
    report();
    observe::sampler_flush(the_recorder);
    base::forbid_system_calls();
    observe::sampler_end_thread();
  } else {
    base::forbid_system_calls();
  }
  errno = saved;
  return true;
}

void go_on_without_filter() noexcept {
  const int saved = errno;
  base::permit_system_calls();
  if (the_recorder.is_on()) observe::sampler_start_thread_again(the_recorder);
  errno = saved;
}

template <class call>
long filtered(call installs) noexcept {
  const bool is_prepared = prepare_for_filter();
  const long result = installs();
  if (!is_prepared) return result;
  if (result < 0)
    go_on_without_filter();
  else
    // The library in a program that is executed from now on finds no run.
    options::make_empty(run_option);
  return result;
}

}  // namespace

}  // namespace trimtab::session

using namespace trimtab::session;

// Named by hand: the C library declares both with `...`. The last line of each is a jump in optimized code, so that a call
// that returns on another stack (clone) finds its own.
TRIMTAB_HOOK long trimtab_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
TRIMTAB_HOOK long trimtab_syscall(long number, long a, long b, long c, long d, long e, long f) {
  syscall_function* const real = next(real_syscall, "syscall");
  if ((number == SYS_seccomp && installs_filter(a, c)) || (number == SYS_prctl && installs_filter_by_prctl(a, b, c)))
      [[unlikely]]
    return filtered([=] { return real(number, a, b, c, d, e, f); });
  return real(number, a, b, c, d, e, f);
}

TRIMTAB_HOOK int trimtab_prctl(int option, long a, long b, long c, long d) __asm__("prctl");
TRIMTAB_HOOK int trimtab_prctl(int option, long a, long b, long c, long d) {
  prctl_function* const real = next(real_prctl, "prctl");
  if (installs_filter_by_prctl(option, a, b)) [[unlikely]]
    return static_cast<int>(filtered([=] { return static_cast<long>(real(option, a, b, c, d)); }));
  return real(option, a, b, c, d);
}

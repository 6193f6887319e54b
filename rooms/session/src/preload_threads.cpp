// The threads that the program makes: each is known from its begin to its end, and with the first one the sampler begins.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "trimtab/base/hook.hpp"
#include "trimtab/base/own_threads.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/plain_threads.hpp"
#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;
using start_function = void*(void*);
using create_function = int(pthread_t*, const pthread_attr_t*, start_function*, void*);

struct beginning {
  start_function* routine;
  void* argument;
};

// Its destructor runs however the thread ends: by return, pthread_exit or cancellation.
struct end_of_threads {
  pthread_key_t key;
  bool is_there;

  end_of_threads() noexcept : is_there(pthread_key_create(&key, thread_ends) == 0) {}
  static void thread_ends(void* place) noexcept { observe::plain_threads::end(reinterpret_cast<std::uintptr_t>(place) - 1); }
};

const end_of_threads& ends() noexcept {
  static const end_of_threads the_ends;
  return the_ends;
}

void* thread_begins(void* passed) {
  const beginning start = *static_cast<beginning*>(passed);
  std::free(passed);
  const std::size_t place = observe::plain_threads::begin();
  if (pthread_setspecific(ends().key, reinterpret_cast<void*>(place + 1)) != 0) observe::plain_threads::end(place);
  return start.routine(start.argument);
}

bool is_of_the_program() noexcept {
  return !base::own_thread_made::is_making() && base::may_call_system() && the_recorder.is_on() &&
         the_recorder.is_of_this_process();
}

}  // namespace

TRIMTAB_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, start_function* routine,
                                void* argument) noexcept {
  static const auto real = reinterpret_cast<create_function*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (real == nullptr) return EAGAIN;
  if (!is_of_the_program() || !ends().is_there) return real(thread, attributes, routine, argument);
  auto* const passed = static_cast<beginning*>(std::malloc(sizeof(beginning)));
  if (passed == nullptr) return real(thread, attributes, routine, argument);
  *passed = {routine, argument};
  const int error = real(thread, attributes, thread_begins, passed);
  if (error != 0) std::free(passed);
  if (error == 0) observe::sampler_thread_made(the_recorder);
  return error;
}

}  // namespace trimtab::session

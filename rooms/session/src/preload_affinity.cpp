// GCC's runtime binds the program's first thread while it is loaded (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY), before
// anything of ours runs: the process may use more CPUs than that thread is left with.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <cerrno>

#include "trimtab/base/hook.hpp"
#include "trimtab/base/topology.hpp"

TRIMTAB_HOOK int pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* cpus) noexcept {
  using function = int(pthread_t, std::size_t, const cpu_set_t*);
  static const auto real = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "pthread_setaffinity_np"));
  trimtab::base::keep_allowed_cpus();  // of no effect once the library is attached
  return real == nullptr ? ENOSYS : real(thread, bytes, cpus);
}

// The hook of dlclose.
#include <dlfcn.h>

#include "hooks/hook.hpp"

using namespace trimtab::openmp;

// An unloaded object's addresses may come to belong to another one, which may use another runtime.
TRIMTAB_HOOK int dlclose(void* handle) {
  static const auto forward = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  const int result = forward(handle);
  forget_unloaded();
  return result;
}

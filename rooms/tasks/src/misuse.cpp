#include "trimtab/tasks/core/misuse.hpp"

#include <cstdio>
#include <exception>

namespace trimtab::tasks::detail {

void misused(const char* mistake, const void* object) noexcept {
  std::fprintf(stderr, "trimtab: %s (%p)\n", mistake, object);
  std::terminate();
}

}  // namespace trimtab::tasks::detail

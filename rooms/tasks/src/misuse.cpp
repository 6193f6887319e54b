#include "trimtab/tasks/misuse.hpp"

#include <cstdio>
#include <exception>

namespace trimtab::tasks::detail {

void misused(const char* what, const void* about) noexcept {
  std::fprintf(stderr, "trimtab: %s (%p)\n", what, about);
  std::terminate();
}

}  // namespace trimtab::tasks::detail

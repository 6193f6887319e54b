#include "memory_nodes.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trimtab::session {

bool interleave_memory() noexcept {
  // The kernel refuses fewer than it may have nodes, which is 1024 at most.
  constexpr unsigned long most_nodes = 1024;
  unsigned long allowed[most_nodes / (8 * sizeof(unsigned long))] = {};
  int policy = MPOL_DEFAULT;
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL) != 0 || policy != MPOL_DEFAULT) return false;
  if (syscall(SYS_get_mempolicy, nullptr, allowed, most_nodes, nullptr, static_cast<unsigned long>(MPOL_F_MEMS_ALLOWED)) !=
      0)
    return false;
  return syscall(SYS_set_mempolicy, static_cast<long>(MPOL_INTERLEAVE), allowed, most_nodes + 1) == 0;
}

}  // namespace trimtab::session

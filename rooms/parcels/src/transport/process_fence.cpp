#include "transport/process_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace trimtab::parcels {
namespace {

long membarrier_call(int command) noexcept {
  const int saved = errno;
  const long result = syscall(SYS_membarrier, command, 0u, 0);
  errno = saved;
  return result;
}

}  // namespace

bool process_fence::register_process() noexcept {
  const long offered = membarrier_call(MEMBARRIER_CMD_QUERY);
  if (offered < 0 || (offered & MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0) return false;
  return membarrier_call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void process_fence::heavy() const noexcept {
  // The caller itself need not be interrupted; its own fence is this one.
  tasks::full_fence();
  if (m_is_asymmetric) membarrier_call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace trimtab::parcels

// OMPT, the tool interface of LLVM's and Intel's runtimes, as far as we use it: identities of explicit tasks and
// the dependences between them, in traces. Regions, waits and the tasks' times come from the hooks alone, so
// nothing is ever counted twice. Declared here, since few machines have omp-tools.h; layouts and numbers are
// those of the OpenMP specification (5.2, chapters 19 and 20).
#pragma once

#include <cstdint>

namespace trimtab::openmp {

union ompt_data {
  std::uint64_t value;
  void* pointer;
};

using ompt_any_function = void (*)();
using ompt_lookup = ompt_any_function (*)(const char* name);
using ompt_set_callback = int (*)(int event, ompt_any_function callback);

struct ompt_tool {
  int (*initialize)(ompt_lookup lookup, int device, ompt_data* tool);  // not 0: stay
  void (*finalize)(ompt_data* tool);
  ompt_data data;
};

enum ompt_event : int {
  ompt_task_create = 5,
  ompt_task_schedule = 6,
  ompt_task_dependence = 19,
};
inline constexpr int ompt_explicit_task = 4;

// From openmp::attach: OMP_TOOL_LIBRARIES names a tool, and a runtime has room for one only.
void ompt_yield_to_libraries() noexcept;

// From openmp::detach: says whose tasks stayed without identities, and why.
void ompt_detach() noexcept;

}  // namespace trimtab::openmp

// The OpenMP room as session sees it: hooks are found by the dynamic linker; these only switch them.
#pragma once

namespace trimtab::openmp {

// A runtime takes one OMPT tool. Whoever set OMP_TOOL_LIBRARIES wants another one.
enum class ompt_use { take_part, leave_to_others };

// The recorder is open: from now on hooks record. At level idle they still pass straight through.
void attach(ompt_use use = ompt_use::take_part) noexcept;

// The program ends in an orderly way: last words of the room (what was loaded but never seen).
void detach() noexcept;

// The calling thread may end the process: what was put off on its lane is written. Takes no lock.
void settle() noexcept;

// In a forked child, after recorder.after_fork(): nothing cached about lanes or subjects is valid any more.
void after_fork() noexcept;

}  // namespace trimtab::openmp

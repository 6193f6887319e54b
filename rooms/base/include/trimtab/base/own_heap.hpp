// A heap apart from the program's: of memory that is mapped for it alone. The preload library allocates from it, since what
// it took from the program's heap would move the program's own blocks, and a program that writes past the end of one would
// fail in another place, or only when it is watched.
//
// Any thread may call, at any time, also before constructors. One spin lock; in a child of fork, where another thread may
// have been changing the lists of free blocks, they begin anew. Nothing here is called while an event is recorded.
#pragma once

#include <cstddef>

namespace trimtab::base::own_heap {

// As malloc, calloc, aligned_alloc, realloc and free; errno changes only where they fail.
void* take(std::size_t bytes) noexcept;
void* take_zeroed(std::size_t count, std::size_t bytes) noexcept;
void* take_aligned(std::size_t multiple, std::size_t bytes) noexcept;
void* resize(void* memory, std::size_t bytes) noexcept;
void give(void* memory) noexcept;

void after_fork() noexcept;

}  // namespace trimtab::base::own_heap

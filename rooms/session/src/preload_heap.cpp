// The library allocates from a heap of its own (own_heap.hpp), and with it the C++ runtime that is linked into it: these
// definitions are not exported (preload.map), so the program's stay what they are. What the C library allocates for itself
// comes from the program's heap as before: for each thread of ours, its table of thread-local variables.
#include <cerrno>
#include <cstddef>

#include "trimtab/base/own_heap.hpp"

namespace heap = trimtab::base::own_heap;

extern "C" void* malloc(std::size_t bytes) noexcept { return heap::take(bytes); }

extern "C" void free(void* memory) noexcept { heap::give(memory); }

extern "C" void* calloc(std::size_t count, std::size_t bytes) noexcept { return heap::take_zeroed(count, bytes); }

extern "C" void* realloc(void* memory, std::size_t bytes) noexcept { return heap::resize(memory, bytes); }

extern "C" void* memalign(std::size_t multiple, std::size_t bytes) noexcept { return heap::take_aligned(multiple, bytes); }

extern "C" void* aligned_alloc(std::size_t multiple, std::size_t bytes) noexcept {
  return heap::take_aligned(multiple, bytes);
}

extern "C" int posix_memalign(void** memory, std::size_t multiple, std::size_t bytes) noexcept {
  *memory = heap::take_aligned(multiple, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

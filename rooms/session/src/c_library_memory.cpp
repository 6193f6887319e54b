#include "c_library_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <limits>

namespace trimtab::session {

namespace {

constexpr int least_threshold = 128 << 10, most_threshold = 32 << 20;  // between which glibc moves it by itself
constexpr int precision = 64 << 10;
constexpr int keeping_mmap_threshold = 1 << 30, keeping_trim_threshold = std::numeric_limits<int>::max();

const void* object_of(const void* address) noexcept {
  Dl_info object{};
  return address != nullptr && dladdr(address, &object) != 0 ? object.dli_fbase : nullptr;
}

template <class function>
void look_up(const char* name, function*& target) noexcept {
  target = reinterpret_cast<function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::optional<c_library_memory> c_library_memory::find() noexcept {
  c_library_memory allocator;
  look_up("mallopt", allocator.m_set);
  look_up("malloc_trim", allocator.m_trim);
  look_up("mallinfo2", allocator.m_info);
  look_up("malloc", allocator.m_take);
  look_up("free", allocator.m_free);
  look_up("malloc_usable_size", allocator.m_usable_bytes);
  const void* const library = object_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  const void* const functions[] = {
      reinterpret_cast<const void*>(allocator.m_set), reinterpret_cast<const void*>(allocator.m_trim),
      reinterpret_cast<const void*>(allocator.m_take), reinterpret_cast<const void*>(allocator.m_free),
      reinterpret_cast<const void*>(allocator.m_usable_bytes)};
  if (library == nullptr) return std::nullopt;
  for (const void* const function : functions)
    if (object_of(function) != library) return std::nullopt;
  return allocator;
}

// The C library tells nobody. A block from the threshold on is mapped for itself, and its usable size shows that: a mapping
// without its header of two words, where others lack one word. The blocks are not used, and are freed after the threshold
// has been set: freeing one that is mapped would move it.
bool c_library_memory::keep() noexcept {
  constexpr std::size_t most_blocks = 16;
  void* blocks[most_blocks];
  std::size_t count = 0;
  if (m_mmap_threshold == 0) {
    int low = least_threshold, high = most_threshold;
    while (high - low > precision && count < most_blocks) {
      const int middle = low + (high - low) / 2;
      void* const block = m_take(static_cast<std::size_t>(middle));
      if (block == nullptr) break;
      blocks[count++] = block;
      const bool is_mapped = m_usable_bytes(block) % (2 * sizeof(std::size_t)) == 0;
      (is_mapped ? high : low) = middle;
    }
    m_mmap_threshold = low == least_threshold ? least_threshold : high;
  }
  const bool is_kept =
      m_set(M_MMAP_THRESHOLD, keeping_mmap_threshold) == 1 && m_set(M_TRIM_THRESHOLD, keeping_trim_threshold) == 1;
  if (!is_kept) restore();
  while (count > 0) m_free(blocks[--count]);
  return is_kept;
}

bool c_library_memory::restore() noexcept {
  if (m_mmap_threshold == 0) return true;
  // As glibc moves the two together.
  const int trim_threshold = m_mmap_threshold == least_threshold ? least_threshold : 2 * m_mmap_threshold;
  return m_set(M_MMAP_THRESHOLD, m_mmap_threshold) == 1 && m_set(M_TRIM_THRESHOLD, trim_threshold) == 1;
}

std::optional<std::size_t> c_library_memory::free_bytes() const noexcept {
  if (m_info == nullptr) return std::nullopt;
  return m_info().fordblks;
}

}  // namespace trimtab::session

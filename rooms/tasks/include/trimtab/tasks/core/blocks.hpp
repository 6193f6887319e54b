// Memory for tasks and the states of futures: blocks of a few sizes, kept by each thread, with a common depot for blocks
// that one thread allocates and another frees. The memory stays allocated until the process ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::tasks {

// Blocks of at most 512 bytes are pooled, larger ones come from operator new. Aligned to 64. Throws std::bad_alloc.
void* allocate_block(std::size_t bytes);
void free_block(void* block, std::size_t bytes) noexcept;

// The free blocks of one thread.
class block_cache {
 public:
  block_cache() = default;
  ~block_cache();
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;

  // AddressSanitizer must see the lifetime of each block, so nothing is pooled.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool is_watched = true;
#else
  static constexpr bool is_watched = false;
#endif

  static constexpr std::size_t grain = 64;
  static constexpr std::size_t largest = 512;
  static constexpr std::size_t classes = largest / grain;

  void* allocate(std::size_t bytes) {
    const std::size_t size_class = (bytes - 1) / grain;
    if (size_class >= classes) [[unlikely]]
      return large(bytes);
    free_list& list = m_lists[size_class];
    if (list.first == nullptr) [[unlikely]]
      refill(size_class);
    block* const cached = list.first;
    list.first = cached->next;
    list.count -= 1;
    return cached;
  }

  void free(void* memory, std::size_t bytes) noexcept {
    const std::size_t size_class = (bytes - 1) / grain;
    if (size_class >= classes) [[unlikely]]
      return free_large(memory, bytes);
    free_list& list = m_lists[size_class];
    auto* const freed = static_cast<block*>(memory);
    freed->next = list.first;
    list.first = freed;
    list.count += 1;
    if (list.count >= 2 * batch) [[unlikely]]
      return_batch(size_class);
  }

 private:
  friend struct depot;
  static constexpr std::uint32_t batch = 64;

  // Content of a free block. In the depot it also has pointers to other blocks of its batch, as a tree. Each block has to
  // come from memory or another processor: through the tree all are prefetched in a few steps, along the list one after the
  // other.
  static constexpr std::uint32_t fan = 5;
  struct block {
    block* next;
    block* next_batch;  // of the first of a batch
    block* children[fan];
    std::uint32_t count;  // of the first of a batch
  };
  static_assert(sizeof(block) <= grain);
  struct free_list {
    block* first = nullptr;
    std::uint32_t count = 0;
  };

  static void* large(std::size_t bytes);
  static void free_large(void* memory, std::size_t bytes) noexcept;
  static block* cut_batch(block& first) noexcept;
  static void fetch(block& first) noexcept;
  void refill(std::size_t size_class);
  void return_batch(std::size_t size_class) noexcept;

  free_list m_lists[classes];
};

}  // namespace trimtab::tasks

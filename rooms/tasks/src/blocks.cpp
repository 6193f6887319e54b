#include "trimtab/tasks/blocks.hpp"

#include <mutex>
#include <new>

#include "process_locks.hpp"
#include "trimtab/tasks/worker.hpp"

namespace trimtab::tasks {

// Batches of free blocks, of all threads.
struct depot {
  block_cache::block* batches[block_cache::classes] = {};

  block_cache::block* take(std::size_t which) noexcept {
    const std::lock_guard guard(lock_of(of_process::blocks));
    block_cache::block* const first = batches[which];
    if (first != nullptr) batches[which] = first->next_batch;
    return first;
  }
  void put(std::size_t which, block_cache::block& first) noexcept {
    const std::lock_guard guard(lock_of(of_process::blocks));
    first.next_batch = batches[which];
    batches[which] = &first;
  }
};

namespace {

// Needs no destruction: threads may end after static objects are gone.
constinit depot the_depot;

}  // namespace

void* block_cache::large(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{grain}); }

void block_cache::free_large(void* what, std::size_t bytes) noexcept {
  ::operator delete(what, bytes, std::align_val_t{grain});
}

void block_cache::refill(std::size_t which) {
  free_list& list = m_lists[which];
  list.first = the_depot.take(which);
  list.count = 0;
  for (const block* each = list.first; each != nullptr; each = each->next) list.count += 1;
  if (list.first != nullptr) return;
  const std::size_t size = (which + 1) * grain;
  auto* const slab = static_cast<char*>(::operator new(batch * size, std::align_val_t{grain}));
  for (std::uint32_t i = batch; i > 0; --i) {
    auto* const each = reinterpret_cast<block*>(slab + (i - 1) * size);
    each->next = list.first;
    list.first = each;
  }
  list.count = batch;
}

// The older half: what was freed last is still in the processor's cache.
void block_cache::give_back(std::size_t which) noexcept {
  free_list& list = m_lists[which];
  block* last_kept = list.first;
  for (std::uint32_t i = 1; i < batch; ++i) last_kept = last_kept->next;
  the_depot.put(which, *last_kept->next);
  last_kept->next = nullptr;
  list.count = batch;
}

block_cache::~block_cache() {
  for (std::size_t which = 0; which < classes; ++which)
    if (m_lists[which].first != nullptr) the_depot.put(which, *m_lists[which].first);
}

namespace {
thread_local block_cache t_cache;  // of threads that are no workers
}

void* allocate_block(std::size_t bytes) {
  if constexpr (block_cache::is_watched) return ::operator new(bytes, std::align_val_t{block_cache::grain});
  worker* const here = worker::current();
  return (here != nullptr ? here->blocks() : t_cache).allocate(bytes);
}

void free_block(void* block, std::size_t bytes) noexcept {
  if constexpr (block_cache::is_watched) return ::operator delete(block, bytes, std::align_val_t{block_cache::grain});
  worker* const here = worker::current();
  (here != nullptr ? here->blocks() : t_cache).free(block, bytes);
}

}  // namespace trimtab::tasks

#include "trimtab/tasks/core/blocks.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "process_locks.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks {

// Batches of free blocks, of all threads.
struct depot {
  block_cache::block* batches[block_cache::classes] = {};

  block_cache::block* fetch_batch(std::size_t size_class) noexcept {
    const std::lock_guard guard(lock_of(of_process::blocks));
    block_cache::block* const first = batches[size_class];
    if (first == nullptr) return nullptr;
    block_cache::block* const next = first->next_batch;
    batches[size_class] = next;
    if (next != nullptr) {
      // The upper ones of the next batch, whose first was asked for when this one was next.
      if (next->next_batch != nullptr) __builtin_prefetch(next->next_batch, 1);
      for (std::uint32_t i = 0; i < block_cache::fan && i + 1 < next->count; ++i) __builtin_prefetch(next->children[i], 1);
    }
    return first;
  }
  void store_batch(std::size_t size_class, block_cache::block& first) noexcept {
    const std::lock_guard guard(lock_of(of_process::blocks));
    first.next_batch = batches[size_class];
    batches[size_class] = &first;
  }
};

namespace {

// Needs no destruction: threads may end after static objects are gone.
constinit depot the_depot;

}  // namespace

void* block_cache::large(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{grain}); }

void block_cache::free_large(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, bytes, std::align_val_t{grain});
}

// A batch of the first of a list; the others are returned. Number i has below it numbers fan * i + 1 and the following.
block_cache::block* block_cache::cut_batch(block& first) noexcept {
  block* depot[batch];
  depot[0] = &first;
  std::uint32_t count = 1;
  block* last = &first;
  for (; count < batch && last->next != nullptr; ++count) {
    last = last->next;
    depot[count] = last;
    depot[(count - 1) / fan]->children[(count - 1) % fan] = last;
  }
  first.count = count;
  return std::exchange(last->next, nullptr);
}

// Asks for all, and waits for the inner ones of the tree only.
void block_cache::fetch(block& first) noexcept {
  block* depot[batch];
  depot[0] = &first;
  for (std::uint32_t count = 1; count < first.count; ++count) {
    depot[count] = depot[(count - 1) / fan]->children[(count - 1) % fan];
    __builtin_prefetch(depot[count], 1);
  }
}

void block_cache::refill(std::size_t size_class) {
  free_list& list = m_lists[size_class];
  list.first = the_depot.fetch_batch(size_class);
  if (list.first != nullptr) {
    list.count = list.first->count;
    return fetch(*list.first);
  }
  const std::size_t size = (size_class + 1) * grain;
  auto* const slab = static_cast<char*>(::operator new(batch * size, std::align_val_t{grain}));
  for (std::uint32_t i = batch; i > 0; --i) {
    auto* const cache_block = reinterpret_cast<block*>(slab + (i - 1) * size);
    cache_block->next = list.first;
    list.first = cache_block;
  }
  list.count = batch;
}

// The newer half: what was freed before is still in the processor's cache as well, and its list need not be walked along.
void block_cache::return_batch(std::size_t size_class) noexcept {
  free_list& list = m_lists[size_class];
  block* const returned = list.first;
  list.first = cut_batch(*returned);
  list.count -= returned->count;
  the_depot.store_batch(size_class, *returned);
}

block_cache::~block_cache() {
  for (std::size_t size_class = 0; size_class < classes; ++size_class)
    while (m_lists[size_class].first != nullptr) return_batch(size_class);
}

namespace {
thread_local block_cache t_cache;  // of threads that are no workers
}

void* allocate_block(std::size_t bytes) {
  if constexpr (block_cache::is_watched) return ::operator new(bytes, std::align_val_t{block_cache::grain});
  worker* const this_worker = worker::current();
  return (this_worker != nullptr ? this_worker->blocks() : t_cache).allocate(bytes);
}

void free_block(void* block, std::size_t bytes) noexcept {
  if constexpr (block_cache::is_watched) return ::operator delete(block, bytes, std::align_val_t{block_cache::grain});
  worker* const this_worker = worker::current();
  (this_worker != nullptr ? this_worker->blocks() : t_cache).free(block, bytes);
}

}  // namespace trimtab::tasks

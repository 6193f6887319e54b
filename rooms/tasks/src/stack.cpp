#include "stack.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>

#include "trimtab/tasks/core/worker.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace trimtab::tasks {

namespace context = boost::context::detail;

namespace {

// What is left of a stack when it counts as low: for what tasks call that does not recurse through us.
constexpr std::size_t reserve = 48 << 10;

struct exception_state {
  void* caught;
  unsigned int uncaught;
};

// Asked anew each time: the C++ library declares that a thread's answer never changes, but a stack changes threads.
[[gnu::noinline]] exception_state& exceptions_of_thread() noexcept {
  asm volatile("" ::: "memory");
  return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

}  // namespace

struct switching::handoff {
  void** left_context;
  stack* left;
  after_switch on_left;
  void* argument;
  void* fake_stack = nullptr;  // of AddressSanitizer
};

// On the stack that was switched to.
void switching::arrived(void* left_context, const handoff& on_left_stack, [[maybe_unused]] void* own_fake_stack) noexcept {
  const handoff request = on_left_stack;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(own_fake_stack, &bottom, &bytes);
  if (request.left == nullptr) {
    worker::current()->m_thread_bottom = bottom;
    worker::current()->m_thread_bytes = bytes;
  }
#endif
  *request.left_context = left_context;
  if (request.on_left != nullptr) request.on_left(request.argument, request.left);
}

void switching::switch_to(stack* next, after_switch on_left, void* argument) noexcept {
  worker& this_worker = *worker::current();
  stack* const left = this_worker.m_stack;
  handoff request{left != nullptr ? &left->context : &this_worker.m_thread_context, left, on_left, argument};
  this_worker.m_stack = next;
  this_worker.m_stack_limit = next != nullptr ? next->limit : nullptr;
  this_worker.m_running = next != nullptr ? &next->running : nullptr;
  const exception_state saved_exceptions = exceptions_of_thread();
#if defined(__SANITIZE_THREAD__)
  if (left == nullptr && this_worker.m_thread_fiber == nullptr) this_worker.m_thread_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(next != nullptr ? next->fiber : this_worker.m_thread_fiber, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&request.fake_stack, next != nullptr ? next->bottom : this_worker.m_thread_bottom,
                                 next != nullptr ? next->bytes : this_worker.m_thread_bytes);
#endif
  const context::transfer_t arrival =
      context::jump_fcontext(next != nullptr ? next->context : this_worker.m_thread_context, &request);
  exceptions_of_thread() = saved_exceptions;
  arrived(arrival.fctx, *static_cast<handoff*>(arrival.data), request.fake_stack);
}

stack_memory::stack_memory(std::size_t stack_bytes, void (*entry)(stack&) noexcept) noexcept
    : m_bytes(stack_bytes),
      m_entry(entry),
      m_slabs(static_cast<char**>(mmap(nullptr, most_slabs * sizeof(char*), PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (m_slabs == MAP_FAILED) m_slabs = nullptr;
}

stack_memory::~stack_memory() {
  if (m_slabs == nullptr) return;
#if defined(__SANITIZE_THREAD__)
  for (std::size_t i = 0; i < m_count; ++i) __tsan_destroy_fiber(stack_at(i).fiber);
#endif
  for (std::size_t i = 0; i * stacks_per_slab < m_count; ++i) {
#if defined(__SANITIZE_ADDRESS__)
    // What is left on the stacks is marked, and whoever gets the addresses next knows nothing of it.
    __asan_unpoison_memory_region(m_slabs[i], stacks_per_slab * m_bytes);
#endif
    munmap(m_slabs[i], stacks_per_slab * m_bytes);
  }
  munmap(m_slabs, most_slabs * sizeof(char*));
}

stack& stack_memory::stack_at(std::size_t number) const noexcept {
  char* const bottom = m_slabs[number / stacks_per_slab] + number % stacks_per_slab * m_bytes;
  return *std::launder(reinterpret_cast<stack*>(bottom + m_bytes - sizeof(stack)));
}

namespace {

void begin(context::transfer_t transfer) {
  exceptions_of_thread() = {};
  // Read before `arrived`: afterwards who left may be gone.
  stack& self = *worker::current()->running_stack();
  switching::arrived(transfer.fctx, *static_cast<switching::handoff*>(transfer.data), nullptr);
  self.entry(self);
  __builtin_unreachable();
}

}  // namespace

stack* stack_memory::make_stack(runtime& owner) noexcept {
  if (m_slabs == nullptr || m_count == most_slabs * stacks_per_slab) return nullptr;
  const std::size_t in_slab = m_count % stacks_per_slab;
  char*& slab = m_slabs[m_count / stacks_per_slab];
  if (in_slab == 0) {
    void* const mapped = mmap(nullptr, stacks_per_slab * m_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    slab = static_cast<char*>(mapped);
  }
  char* const bottom = slab + in_slab * m_bytes;
  if (m_count < most_guarded) mprotect(bottom, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
  auto* const new_stack = new (bottom + m_bytes - sizeof(stack)) stack;
  new_stack->owner = &owner;
  new_stack->bottom = bottom;
  new_stack->bytes = m_bytes;
  new_stack->limit = bottom + reserve;
  new_stack->entry = m_entry;
  new_stack->context = context::make_fcontext(new_stack, m_bytes - sizeof(stack), begin);
#if defined(__SANITIZE_THREAD__)
  new_stack->fiber = __tsan_create_fiber(0);
#endif
  m_count += 1;
  return new_stack;
}

}  // namespace trimtab::tasks

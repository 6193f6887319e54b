#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks {

// Not inline: compilers see the address of a local variable stored that outlives its function, which it does not.
void wait_queue::push(waiter& waiting) noexcept {
  waiting.next = nullptr;
  *m_end = &waiting;
  m_end = &waiting.next;
}

}  // namespace trimtab::tasks

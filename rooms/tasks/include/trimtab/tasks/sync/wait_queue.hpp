// Those who wait for something that comes to one after the other: first in, first out. Under its owner's lock.
#pragma once

#include "trimtab/tasks/core/waiting.hpp"

namespace trimtab::tasks {

class wait_queue {
 public:
  wait_queue() = default;
  wait_queue(const wait_queue&) = delete;
  wait_queue& operator=(const wait_queue&) = delete;

  bool is_empty() const noexcept { return m_first == nullptr; }
  waiter* first() const noexcept { return m_first; }

  void push(waiter& waiting) noexcept;

  // nullptr: there is none.
  waiter* pop() noexcept {
    waiter* const oldest = m_first;
    if (oldest != nullptr) {
      m_first = oldest->next;
      if (m_first == nullptr) m_end = &m_first;
    }
    return oldest;
  }

  bool holds(const waiter& waiting) const noexcept {
    for (const waiter* entry = m_first; entry != nullptr; entry = entry->next)
      if (entry == &waiting) return true;
    return false;
  }

  // False: it is not there any more.
  bool remove(waiter& waiting) noexcept {
    for (waiter** link = &m_first; *link != nullptr; link = &(*link)->next) {
      if (*link != &waiting) continue;
      *link = waiting.next;
      if (waiting.next == nullptr) m_end = link;
      return true;
    }
    return false;
  }

  // All, for waiter::notify_all.
  waiter* pop_all() noexcept {
    waiter* const oldest = m_first;
    m_first = nullptr;
    m_end = &m_first;
    return oldest;
  }

 private:
  waiter* m_first = nullptr;
  waiter** m_end = &m_first;
};

}  // namespace trimtab::tasks

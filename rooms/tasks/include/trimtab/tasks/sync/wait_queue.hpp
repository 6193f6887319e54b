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

  void push(waiter& who) noexcept;

  // nullptr: there is none.
  waiter* pop() noexcept {
    waiter* const oldest = m_first;
    if (oldest != nullptr) {
      m_first = oldest->next;
      if (m_first == nullptr) m_end = &m_first;
    }
    return oldest;
  }

  bool holds(const waiter& who) const noexcept {
    for (const waiter* each = m_first; each != nullptr; each = each->next)
      if (each == &who) return true;
    return false;
  }

  // False: it is not there any more.
  bool remove(waiter& who) noexcept {
    for (waiter** at = &m_first; *at != nullptr; at = &(*at)->next) {
      if (*at != &who) continue;
      *at = who.next;
      if (who.next == nullptr) m_end = at;
      return true;
    }
    return false;
  }

  // All, for waiter::tell_all.
  waiter* take_all() noexcept {
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

#include "trimtab/parcels/objects/data_home.hpp"

#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace trimtab::parcels::detail {

void data_home::wait_until_ready(answer<void>& reply) {
  std::exception_ptr error;
  {
    const std::lock_guard guard(m_lock);
    error = m_error;
    if (!error && !m_is_set) {
      m_waiting.push_back(std::move(reply));
      return;
    }
  }
  error ? reply.fail(error) : reply.give();
}

void data_home::settle(std::shared_ptr<const void> data, const std::exception_ptr& error) {
  std::vector<answer<void>> waiting;
  {
    const std::lock_guard guard(m_lock);
    if (m_is_set || m_error) throw std::future_error(std::future_errc::promise_already_satisfied);
    if (data != nullptr) m_table.keep(m_id, std::move(data));
    m_is_set = error == nullptr;
    m_error = error;
    waiting.swap(m_waiting);
  }
  for (answer<void>& reply : waiting) error ? reply.fail(error) : reply.give();
  advance();
}

void data_home::set_exception(answer<void>& reply, const sent_exception& error) {
  if (error.error == nullptr) throw std::invalid_argument("trimtab: set_exception was called without an exception");
  settle(nullptr, error.error);
  reply.give();
}

void data_home::move(answer<void>& reply, locality_number to) {
  if (to >= m_table.size())
    throw std::out_of_range("trimtab: data cannot move to locality " + std::to_string(to) + ": the job has " +
                            std::to_string(m_table.size()) + ", numbered from 0");
  const locality_number caller = reply.caller();
  const auto shared = std::make_shared<answer<void>>(std::move(reply));
  add({caller, to, [shared](const outcome& result) { result.error ? shared->fail(result.error) : shared->give(); }});
}

void data_home::add(request&& next) {
  {
    const std::lock_guard guard(m_lock);
    m_queue.push_back(std::move(next));
  }
  advance();
}

void data_home::end_fetch(answer<void>& reply) {
  {
    const std::lock_guard guard(m_lock);
    const auto position = m_fetches.find(reply.caller());
    if (position == m_fetches.end()) throw std::logic_error("trimtab: the end of a fetch that has not begun");
    if (--position->second == 0) m_fetches.erase(position);
  }
  advance();
  reply.give();
}

bool data_home::admit_first(steps& next) {
  if (m_queue.empty() || m_move || (!m_is_set && !m_error)) return false;
  request first = std::move(m_queue.front());
  m_queue.pop_front();
  outcome result{m_owner, nullptr, m_error};
  if (!m_error && !first.target) {
    result.data = m_owner == m_table.number() ? m_table.kept(m_id) : nullptr;
    if (result.data == nullptr) m_fetches[first.caller] += 1;
  } else if (!m_error && first.target != m_owner) {
    if (!m_fetches.empty()) {
      m_queue.push_front(std::move(first));
      return false;
    }
    next.pull_to = first.target;
    next.pull_from = m_owner;
    m_move = std::move(first);
    return false;
  }
  next.finished.emplace_back(std::move(first), std::move(result));
  return true;
}

void data_home::advance() {
  steps next;
  {
    const std::lock_guard guard(m_lock);
    while (admit_first(next)) {
    }
  }
  for (const auto& [finished, result] : next.finished) finished.finish(result);
  if (next.pull_to) pull(*next.pull_to, next.pull_from);
}

void data_home::pull(locality_number to, locality_number owner) {
  // By a task: this may be the receive loop, which must not wait for room.
  queue_task(m_table.home(), [self = shared_from_this(), to, owner]() noexcept {
    std::exception_ptr error;
    try {
      self->start_pull(to, owner).get();
    } catch (...) {
      error = std::current_exception();
    }
    self->end_move(to, error);
  });
}

void data_home::end_move(locality_number to, const std::exception_ptr& error) noexcept {
  locality_number old_owner = to;
  if (!error) {
    const std::lock_guard guard(m_lock);
    std::swap(m_owner, old_owner);
  }
  // The move is still under way, so no later one can bring the value back there before this has been sent. Parcels keep
  // their order.
  if (!error) drop_at(old_owner);
  request finished;
  bool is_removed = false;
  {
    const std::lock_guard guard(m_lock);
    if (m_move) finished = std::move(*m_move);
    m_move.reset();
    is_removed = m_is_removed;
    // Who was lost meanwhile has been noted in the table before on_gone came here, which left it to this function.
    if (const std::exception_ptr loss = m_table.loss_of(m_owner)) m_error = loss;
    old_owner = m_owner;
  }
  if (is_removed) drop_at(old_owner);
  finished.finish({old_owner, nullptr, error});
  advance();
}

void data_home::drop_at(locality_number owner) noexcept {
  if (owner == m_table.number()) return m_table.drop(m_id);
  try {
    object_call<&locality_object::drop_data>::post(m_table, object_table::own_object_of(owner), m_id);
  } catch (...) {
    // The value takes memory there until the job ends.
    m_table.note_failed_post(m_table.number(), std::current_exception());
  }
}

void data_home::on_removed() noexcept {
  std::vector<answer<void>> waiting;
  std::deque<request> queue;
  locality_number owner = 0;
  {
    const std::lock_guard guard(m_lock);
    m_is_removed = true;
    waiting.swap(m_waiting);
    queue.swap(m_queue);
    if (m_move || !m_is_set) return;  // end_move does the rest
    owner = m_owner;
  }
  queue_task(m_table.home(), [self = shared_from_this(), owner]() noexcept { self->drop_at(owner); });
}

void data_home::on_gone(locality_number which, const std::exception_ptr& error) noexcept {
  std::deque<request> dropped;
  {
    const std::lock_guard guard(m_lock);
    m_fetches.erase(which);
    std::deque<request> left;
    for (request& waiting : m_queue) (waiting.caller == which ? dropped : left).push_back(std::move(waiting));
    m_queue.swap(left);
    if (m_owner == which && !m_move) m_error = error;
  }
  advance();
}

}  // namespace trimtab::parcels::detail

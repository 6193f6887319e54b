#include "trimtab/parcels/calls/mailbox.hpp"

#include <mutex>
#include <optional>
#include <utility>

namespace trimtab::parcels {

namespace {

template <class value>
value take_first(std::vector<value>& values) {
  value first = std::move(values.front());
  values.erase(values.begin());
  return first;
}

}  // namespace

tasks::future<letter> mailbox::await(locality_number from, std::uint64_t tag) {
  const std::lock_guard guard(m_lock);
  const auto position = m_boxes.find({from, tag});
  if (position != m_boxes.end() && !position->second.letters.empty()) {
    letter first = take_first(position->second.letters);
    if (position->second.letters.empty()) m_boxes.erase(position);
    return tasks::make_ready_future(std::move(first));
  }
  const auto error = m_errors.find(from);
  if (error != m_errors.end()) return tasks::make_exceptional_future<letter>(error->second);
  return m_boxes[{from, tag}].waiting.emplace_back().get_future();
}

void mailbox::deliver(locality_number from, std::uint64_t tag, bytes_view content) {
  letter bytes(content.begin(), content.end());
  std::optional<tasks::promise<letter>> waiting;
  {
    const std::lock_guard guard(m_lock);
    box& target = m_boxes[{from, tag}];
    if (target.waiting.empty()) {
      target.letters.push_back(std::move(bytes));
      return;
    }
    waiting = take_first(target.waiting);
    if (target.waiting.empty()) m_boxes.erase({from, tag});
  }
  // Not under the lock: who continues may ask for the next one.
  waiting->set_value(std::move(bytes));
}

void mailbox::fail(locality_number from, const std::exception_ptr& error) {
  std::vector<tasks::promise<letter>> disappointed;
  {
    const std::lock_guard guard(m_lock);
    m_errors[from] = error;
    for (auto& [called, content] : m_boxes)
      if (called.from == from) {
        for (auto& waiting : content.waiting) disappointed.push_back(std::move(waiting));
        content.waiting.clear();
      }
  }
  for (auto& waiting : disappointed) waiting.set_exception(error);
}

}  // namespace trimtab::parcels

// Threads that are no workers advance background work, too, before they sleep: what they wait for may come with it.
#pragma once

#include <memory>
#include <vector>

#include "pause.hpp"
#include "trimtab/tasks/core/background_work.hpp"

namespace trimtab::tasks {

// From now on threads that wait advance it, too, until its runtime ends.
void add_background_of_threads(const std::shared_ptr<background_work>& work);
// All that are still there.
std::vector<std::shared_ptr<background_work>> background_of_threads();
bool is_background_set() noexcept;

// Advances it until is_over(), or for some microseconds; then tells it that the thread sleeps. It stops even if messages
// keep coming: a thread that waits for the end of a program would otherwise spin all the time beside the worker that does
// the work.
template <class predicate>
void advance_background_until(predicate&& is_over) {
  if (!is_background_set()) [[likely]]
    return;
  const std::vector<std::shared_ptr<background_work>> works = background_of_threads();
  const auto any = [&works](auto&& ask) {
    bool result = false;
    for (const auto& work : works) result |= ask(*work);
    return result;
  };
  constexpr int most_looks = 2000;  // about what workers take before they sleep
  for (int looks = 0; looks < most_looks && !is_over(); ++looks) {
    any([](background_work& work) { return work.advance(); });
    pause();
  }
  while (!is_over() && any([](background_work& work) { return work.before_sleep(); })) continue;
}

}  // namespace trimtab::tasks

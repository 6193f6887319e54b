// Priorities by kind of task, changed while the program runs: a kind is what reports call it, the name of an annotation or
// of a task of a graph. Of the whole process, because kinds are. Costs the creation of a task one relaxed load while
// nobody watches, and a hash and a search among at most 32 names otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/tasks/core/task.hpp"

namespace trimtab::tasks {

// Any thread. A change holds for tasks that are created after it; those that wait in queues stay where they are.
class kind_priorities {
 public:
  static constexpr std::size_t most_kinds = 32, longest_name = 63;

  // From now on names are noted and changes take effect. False: somebody else does it.
  bool watch() noexcept;
  // All kinds have the priorities that the program gives them again.
  void unwatch() noexcept;

  // The kinds seen so far and those named by set_raised, in any order.
  std::vector<std::string> names() const;
  // True: tasks of this kind get high priority; false: what the program says. The answer is false if the name is too long,
  // or there are too many kinds.
  bool set_raised(std::string_view name, bool is_raised) noexcept;

  // Of a new task.
  template <class text>
  priority level_of(const text& name, priority given) noexcept {
    if (!m_is_watched.load(std::memory_order_relaxed)) [[likely]]
      return given;
    return find_level(name, given);
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> hash{0};  // 0: empty; set once
    std::atomic<bool> has_name{false};   // released after the name is written
    std::atomic<bool> is_raised{false};
    std::array<char, longest_name + 1> name{};
  };
  priority find_level(std::string_view name, priority given) noexcept;
  entry* find(std::string_view name) noexcept;

  std::atomic<bool> m_is_watched{false};
  std::array<entry, most_kinds> m_entries{};
};

// Those of the process.
inline constinit kind_priorities priorities_of_kinds;

// Of tasks that have a name; those without are known by their code, and stay as the program creates them.
inline priority level_of_kind(const char* name, priority given) noexcept {
  return name == nullptr ? given : priorities_of_kinds.level_of(name, given);
}

}  // namespace trimtab::tasks

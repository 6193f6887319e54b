#include "trimtab/tasks/core/kind_priorities.hpp"

#include <functional>

#include "trimtab/base/hash.hpp"

namespace trimtab::tasks {

bool kind_priorities::watch() noexcept {
  bool is_watched = false;
  return m_is_watched.compare_exchange_strong(is_watched, true, std::memory_order_relaxed);
}

void kind_priorities::unwatch() noexcept {
  for (entry& kind : m_entries) kind.is_raised.store(false, std::memory_order_relaxed);
  m_is_watched.store(false, std::memory_order_relaxed);
}

std::vector<std::string> kind_priorities::names() const {
  std::vector<std::string> seen;
  for (const entry& kind : m_entries)
    if (kind.has_name.load(std::memory_order_acquire)) seen.emplace_back(kind.name.data());
  return seen;
}

bool kind_priorities::set_raised(std::string_view name, bool is_raised) noexcept {
  entry* const kind = find(name);
  if (kind != nullptr) kind->is_raised.store(is_raised, std::memory_order_relaxed);
  return kind != nullptr;
}

priority kind_priorities::find_level(std::string_view name, priority given) noexcept {
  const entry* const kind = find(name);
  return kind != nullptr && kind->is_raised.load(std::memory_order_relaxed) ? priority::high : given;
}

// Entries are filled in order, and never emptied. Two names of equal hash share an entry, which 64 bits make unlikely.
kind_priorities::entry* kind_priorities::find(std::string_view name) noexcept {
  if (name.empty() || name.size() > longest_name) return nullptr;
  const std::uint64_t hash = base::mix(std::hash<std::string_view>()(name)) | 1;
  for (entry& kind : m_entries) {
    std::uint64_t stored = kind.hash.load(std::memory_order_relaxed);
    if (stored == 0 && kind.hash.compare_exchange_strong(stored, hash, std::memory_order_relaxed)) {
      name.copy(kind.name.data(), longest_name);
      kind.has_name.store(true, std::memory_order_release);
      return &kind;
    }
    if (stored == hash) return &kind;
  }
  return nullptr;
}

}  // namespace trimtab::tasks

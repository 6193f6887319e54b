// Knobs, policies and decisions: what a steering thread tells. decisions.tt comes into being with the first one.
#include <mutex>

#include "recorder_append.hpp"

namespace trimtab::observe {

namespace {
constexpr std::size_t decisions_first_bytes = 16 * 1024;
}  // namespace

std::uint32_t recorder::add_knob(std::uint32_t subject, const char* name, const char* key,
                                 const char* value_names) noexcept {
  if (!is_on()) return 0;
  const std::lock_guard guard(m_lock);
  name_knob fixed{};
  fixed.head.tag = name_tag::knob;
  fixed.id = ++m_knob_count;
  fixed.subject = subject;
  const char* const strings[] = {name, key, value_names};
  append_name(&fixed.head, sizeof fixed, strings, 3);
  return fixed.id;
}

std::uint16_t recorder::add_policy(const char* name) noexcept {
  if (!is_on()) return 0;
  const std::lock_guard guard(m_lock);
  name_policy fixed{};
  fixed.head.tag = name_tag::policy;
  fixed.id = ++m_policy_count;
  const char* const strings[] = {name};
  append_name(&fixed.head, sizeof fixed, strings, 1);
  return fixed.id;
}

void recorder::decide(const decision& record) noexcept {
  append(m_decisions_file, "decisions.tt", file_kind::decisions, decisions_first_bytes, record);
}

}  // namespace trimtab::observe

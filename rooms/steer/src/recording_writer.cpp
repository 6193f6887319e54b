#include "trimtab/steer/recording_writer.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace trimtab::steer {

recording_writer::recording_writer(const recording_head& head, into to, std::uint64_t most_bytes)
    : m_into(std::move(to)), m_left(most_bytes), m_head(to_text(head)) {}

void recording_writer::about(recorded_subject fresh) {
  if (!m_is_over) m_next.about.push_back(std::move(fresh));
}

void recording_writer::answered(std::string text) {
  if (!m_is_over) m_next.answer = std::move(text);
}

void recording_writer::failed(std::string reason) {
  if (!m_is_over) m_next.fault = std::move(reason);
}

void recording_writer::step(const snapshot& latest_snapshot, decision_number decided) {
  if (m_is_over) return;
  try {
    m_next.told = latest_snapshot;
    m_next.decided = decided;
    put(std::exchange(m_head, {}) + to_text(m_next, decided != std::exchange(m_decided, decided)));
    m_next = {};
  } catch (const std::bad_alloc&) {
    end("no memory");
  }
}

void recording_writer::unapplied(decision_number number) {
  if (!m_is_over) put("unapplied " + std::to_string(number) + '\n');
}

void recording_writer::put(const std::string& text) {
  if (text.size() > m_left) return end("it has reached the most that it may take");
  m_left -= text.size();
  if (const int error = m_into.append(text); error != 0) end(std::strerror(error));
}

void recording_writer::end(const std::string& reason) {
  m_is_over = true;
  if (m_into.has_ended) m_into.has_ended(reason);
}

}  // namespace trimtab::steer

#include "trimtab/observe/knob_panel.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace trimtab::observe {

namespace {

constexpr std::size_t first_slots = 16;

constexpr std::size_t bytes_of_slots(std::size_t slots) noexcept { return header_bytes + slots * sizeof(knob_slot); }

file_header& header_of(std::byte* at) noexcept { return *reinterpret_cast<file_header*>(at); }

// The magic last, so that readers take a file that is not complete for absent.
void begin_file(std::byte* at, std::size_t bytes) noexcept {
  file_header& head = header_of(at);
  head.version = format_version;
  head.minor = format_minor;
  head.header_size = header_bytes;
  head.kind = file_kind::knobs;
  head.record_bytes = sizeof(knob_slot);
  head.capacity = (bytes - header_bytes) / sizeof(knob_slot);
  std::uint64_t magic;
  std::memcpy(&magic, file_magic, sizeof magic);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(head.magic)).store(magic, std::memory_order_release);
}

}  // namespace

int knob_panel::create(const char* folder, const char* engine) noexcept {
  char path[576];
  const int length = std::snprintf(path, sizeof path, "%s/knobs%s%s.tt", folder, *engine == '\0' ? "" : "-", engine);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return ENAMETOOLONG;
  const int error = m_file.create(path, bytes_of_slots(first_slots), bytes_of_slots(most_slots));
  if (error == 0) begin_file(m_file.data(), m_file.size());
  return error;
}

std::optional<std::size_t> knob_panel::add(const knob_slot& fresh) noexcept {
  if (!is_open() || m_slots == most_slots) return std::nullopt;
  file_header& head = header_of(m_file.data());
  if (bytes_of_slots(m_slots + 1) > m_file.size()) {
    if (m_file.grow(bytes_of_slots(2 * m_slots)) != 0) {
      head.dropped += 1;
      return std::nullopt;
    }
    head.capacity = (m_file.size() - header_bytes) / sizeof(knob_slot);
  }
  slots()[m_slots] = fresh;
  // Whoever sees the number sees the slot.
  std::atomic_ref(head.written).store(m_slots + 1, std::memory_order_release);
  return m_slots++;
}

std::optional<knob_wish> knob_panel::request(std::size_t place) noexcept {
  knob_slot& slot = at(place);
  // Pairs with the release of who asks: its value and kind were written before.
  const std::uint64_t number = std::atomic_ref(slot.request_number).load(std::memory_order_acquire);
  if (number == slot.answered_number) return std::nullopt;
  return knob_wish{number, slot.request, slot.request_value};
}

void knob_panel::answer(std::size_t place, std::uint64_t number, knob_answer result, std::uint64_t decision) noexcept {
  knob_slot& slot = at(place);
  slot.answer = result;
  slot.decision = decision;
  std::atomic_ref(slot.answered_number).store(number, std::memory_order_release);
}

}  // namespace trimtab::observe

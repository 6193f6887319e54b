#include "trimtab/parcels/archive/writer.hpp"

#include <stdexcept>
#include <string>

namespace trimtab::parcels {

void detail::throw_too_deep() {
  throw std::length_error("trimtab: values to send are nested more than " + std::to_string(deepest_nesting) +
                          " times (containers, std::unique_ptr and classes with `serialize` within each other)");
}

std::vector<bytes_view> writer::parts() const {
  std::vector<bytes_view> parts;
  parts.reserve(2 * m_references.size() + 1);
  std::size_t position = m_start;
  const auto add_own_bytes = [&](std::size_t end) {
    if (end != position) parts.push_back(m_buffer.view().subspan(position, end - position));
    position = end;
  };
  for (const reference& outside : m_references) {
    add_own_bytes(outside.position);
    parts.push_back(outside.bytes);
  }
  add_own_bytes(m_buffer.size());
  return parts;
}

void writer::refer_to(bytes_view bytes) {
  m_references.push_back({m_buffer.size(), bytes});
  m_referred += bytes.size();
}

void writer::keep(byte_buffer memory) {
  m_kept.push_back(std::move(memory));
  refer_to(m_kept.back().view());
}

}  // namespace trimtab::parcels

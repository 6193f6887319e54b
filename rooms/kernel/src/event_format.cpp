#include "trimtab/kernel/event_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace trimtab::kernel {

namespace {

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// What stands behind `label` up to the next semicolon, or to the end.
std::optional<std::string_view> after(std::string_view line, std::string_view label) noexcept {
  const std::size_t found = line.find(label);
  if (found == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(found + label.size());
  return trimmed(rest.substr(0, rest.find(';')));
}

std::uint64_t number_of(std::optional<std::string_view> text, std::string_view label, std::size_t line_number) {
  std::uint64_t number = 0;
  const std::string_view digits = text.value_or("");
  const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!text || digits.empty() || error != std::errc() || stopped != digits.data() + digits.size())
    throw format_error("format of a tracepoint, line " + std::to_string(line_number) + ": expected '" + std::string(label) +
                       "' and a number, found '" + std::string(digits) + "'");
  return number;
}

// "char prev_comm[16]" -> "prev_comm"
std::string name_of_declaration(std::string_view declaration) {
  declaration = trimmed(declaration.substr(0, declaration.find('[')));
  const std::size_t last_space = declaration.find_last_of(" \t*");
  return std::string(last_space == declaration.npos ? declaration : declaration.substr(last_space + 1));
}

}  // namespace

std::int64_t field_place::read(std::span<const std::byte> record) const noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, record.data() + offset, size);  // little-endian, as all machines that Trimtab knows
  if (!is_signed || size >= sizeof bits) return static_cast<std::int64_t>(bits);
  const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
  return static_cast<std::int64_t>((bits ^ sign) - sign);
}

void event_format::read_line(std::string_view line, std::size_t number) {
  line = trimmed(line);
  if (line.starts_with("name:")) m_name = trimmed(line.substr(5));
  if (line.starts_with("ID:")) {
    m_id = number_of(after(line, "ID:"), "ID:", number);
    m_has_id = true;
  }
  if (!line.starts_with("field:")) return;
  field added{name_of_declaration(after(line, "field:").value_or("")), {}};
  added.place.offset = static_cast<std::uint32_t>(number_of(after(line, "offset:"), "offset:", number));
  added.place.size = static_cast<std::uint32_t>(number_of(after(line, "size:"), "size:", number));
  added.place.is_signed = number_of(after(line, "signed:"), "signed:", number) != 0;
  m_fields.push_back(std::move(added));
}

event_format event_format::parse(std::string_view text) {
  event_format format;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    format.read_line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (format.m_name.empty() || !format.m_has_id || format.m_fields.empty())
    throw format_error("format of a tracepoint: expected lines 'name:', 'ID:' and 'field:', not all were found");
  return format;
}

field_place event_format::place_of(std::string_view name) const {
  const auto found = std::ranges::find(m_fields, name, &field::name);
  if (found == m_fields.end()) throw format_error("tracepoint " + m_name + ": it has no field '" + std::string(name) + "'");
  return found->place;
}

field_place event_format::integer(std::string_view name) const {
  const field_place place = place_of(name);
  const std::uint32_t size = place.size;
  if (size != 1 && size != 2 && size != 4 && size != 8)
    throw format_error("tracepoint " + m_name + ": field '" + std::string(name) + "' has " + std::to_string(size) +
                       " bytes, expected 1, 2, 4 or 8");
  return place;
}

}  // namespace trimtab::kernel

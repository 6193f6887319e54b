// What tracefs says about the bytes of a tracepoint's records (events/sched/*/format).
//
//   name: sched_wakeup
//   ID: 371
//   format:
//   	field:pid_t pid;	offset:24;	size:4;	signed:1;
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::kernel {

// Says which line, what was expected and what was found.
class format_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where an integer, or a text, is within a record.
struct field_place {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;  // 1, 2, 4 or 8 bytes
  bool is_signed = false;
  bool is_within(std::size_t bytes) const noexcept { return offset <= bytes && size <= bytes - offset; }
  // Of a record in which it is.
  std::int64_t read(std::span<const std::byte> record) const noexcept;
};

class event_format {
 public:
  // The whole text of a file `format`. Throws format_error.
  static event_format parse(std::string_view text);
  const std::string& name() const noexcept { return m_name; }
  // As perf_event_open wants it.
  std::uint64_t id() const noexcept { return m_id; }
  // Throws format_error if there is no such field, or it is no integer.
  field_place integer(std::string_view field) const;
  // Of any kind. Throws format_error if there is no such field.
  field_place place_of(std::string_view field) const;

 private:
  struct field {
    std::string name;
    field_place place;
  };
  void read_line(std::string_view line, std::size_t number);
  std::string m_name;
  std::uint64_t m_id = 0;
  bool m_has_id = false;
  std::vector<field> m_fields;
};

}  // namespace trimtab::kernel

#include "trimtab/parcels/archive/reader.hpp"

#include <string>

namespace trimtab::parcels {
namespace {

[[noreturn]] void throw_malformed(std::size_t position, const std::string& expected, const std::string& actual) {
  throw malformed_message("malformed message at byte " + std::to_string(position) + ": expected " + expected + ", found " +
                          actual);
}

std::string byte_count_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

}  // namespace

void reader::fail(const char* expected, const char* actual) const { throw_malformed(m_position, expected, actual); }

void reader::fail_short(std::size_t count) const {
  throw_malformed(m_position, byte_count_text(count), std::to_string(left()) + " left");
}

void reader::fail_deep() const {
  throw_malformed(m_position, "values nested at most " + std::to_string(deepest_nesting) + " times", "more");
}

void reader::must_be_at_end() const {
  if (left() != 0) throw_malformed(m_position, "the end of the message", byte_count_text(left()) + " more");
}

std::size_t reader::read_count(std::size_t element_bytes) {
  std::uint64_t count = read_bits<std::uint8_t>();
  if (count == 255) count = read_bits<std::uint64_t>();
  if (count > left() / element_bytes) {
    throw_malformed(
        m_position,
        "at most " + std::to_string(left() / element_bytes) + " elements of at least " + byte_count_text(element_bytes),
        "a count of " + std::to_string(count));
  }
  return static_cast<std::size_t>(count);
}

bool reader::read_bool() {
  const auto byte = read_bits<std::uint8_t>();
  if (byte > 1) throw_malformed(m_position - 1, "0 or 1", std::to_string(byte));
  return byte == 1;
}

}  // namespace trimtab::parcels

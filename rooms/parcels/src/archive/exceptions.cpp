#include "trimtab/parcels/archive/exceptions.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "archive/standard_exceptions.hpp"

namespace trimtab::parcels {
namespace {

using detail::exception_kind;
using detail::exception_record;

constexpr unsigned deepest_nested_exception = 32;

enum class exception_state : std::uint8_t { none, recorded, lost };

// Names are compared, not addresses: a type has one std::type_info per shared library.
bool is_type(const std::type_info* type, std::string_view name) noexcept { return type != nullptr && type->name() == name; }

class exception_registry {
 public:
  void add(const exception_kind& kind) {
    const std::lock_guard lock(m_mutex);
    m_kinds.insert(m_kinds.begin(), kind);
  }

  // With no type: none.
  exception_kind kind_of(std::string_view name) {
    const auto matches = [name](const exception_kind& kind) {
      return is_type(kind.type, name) || is_type(kind.nesting_type, name);
    };
    const std::lock_guard lock(m_mutex);
    const auto registered = std::ranges::find_if(m_kinds, matches);
    if (registered != m_kinds.end()) return *registered;
    const auto kinds = detail::standard_exceptions();
    const auto standard = std::ranges::find_if(kinds, matches);
    return standard != kinds.end() ? *standard : exception_kind();
  }

 private:
  std::mutex m_mutex;
  std::vector<exception_kind> m_kinds;  // the newest first
};

// Never destroyed: exceptions are also sent while the program ends.
exception_registry& known_exceptions() {
  static auto* const registry = new exception_registry;
  return *registry;
}

std::string readable_name(const char* name) {
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                             &std::free);
  return readable != nullptr ? readable.get() : name;
}

// What std::throw_with_nested has made of T is named like T.
std::string type_name_of(const char* name, const exception_kind& kind) {
  if (kind.type != nullptr) return readable_name(kind.type->name());
  constexpr std::string_view wrapper = "std::_Nested_exception<";
  std::string readable = readable_name(name);
  if (!readable.starts_with(wrapper)) return readable;
  return readable.substr(wrapper.size(), readable.size() - wrapper.size() - 1);
}

const char* current_type() noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type != nullptr ? type->name() : "unknown";
}

exception_record record_of(const std::exception_ptr& error, unsigned level);

std::unique_ptr<exception_record> nested_record(const std::exception_ptr& error, unsigned level) {
  try {
    std::rethrow_exception(error);
  } catch (const std::nested_exception& outer) {
    if (outer.nested_ptr() == nullptr || level == deepest_nested_exception) return nullptr;
    return std::make_unique<exception_record>(record_of(outer.nested_ptr(), level + 1));
  } catch (...) {
    return nullptr;
  }
}

// The parts that an exception of any type has.
exception_record general_record(const std::exception_ptr& error, exception_kind& kind) {
  try {
    std::rethrow_exception(error);
  } catch (const remote_error& forwarded) {
    return {{}, forwarded.type_name(), forwarded.what(), forwarded.locality()};
  } catch (const std::exception& thrown) {
    kind = known_exceptions().kind_of(current_type());
    const char* const text = thrown.what();
    return {{}, type_name_of(current_type(), kind), text != nullptr ? text : ""};
  } catch (...) {
    kind = known_exceptions().kind_of(current_type());
    std::string name = type_name_of(current_type(), kind);
    std::string text = "an exception of type " + name;
    return {{}, std::move(name), std::move(text)};
  }
}

// An exception that cannot be written as it is, is left with its text.
void describe_by_kind(const std::exception_ptr& error, const exception_kind& kind, exception_record& record) {
  try {
    if (kind.type != nullptr && kind.describe(error, record)) record.key = kind.type->name();
  } catch (...) {
    record.content.clear();
  }
}

exception_record record_of(const std::exception_ptr& error, unsigned level) {
  exception_kind kind;
  exception_record record = general_record(error, kind);
  describe_by_kind(error, kind, record);
  record.nested = nested_record(error, level);
  return record;
}

// In one piece, so that a message gets all of it or nothing.
void write_record(writer& out, const exception_record& record) {
  byte_buffer content;
  writer{content}(record);
  byte_buffer framed;
  writer frame(framed);
  frame(exception_state::recorded, static_cast<std::uint64_t>(content.size()));
  frame.write_bytes(content.view());
  out.write_bytes(framed.view());
}

std::exception_ptr lost_exception(std::optional<locality_number> origin) {
  return std::make_exception_ptr(
      remote_error("unknown", "an exception that its locality could not describe (it was out of memory)", origin));
}

std::exception_ptr build_from_record(const exception_record& record, std::optional<locality_number> origin) {
  return detail::make_built(remote_error(record.type_name, record.text, record.locality ? record.locality : origin), record);
}

// Within the handler of what is nested in it.
std::exception_ptr build_outer(const exception_record& record, std::optional<locality_number> origin) {
  try {
    const exception_kind kind = known_exceptions().kind_of(record.key);
    if (kind.build != nullptr) return kind.build(record);
    return build_from_record(record, origin);
  } catch (...) {
    // Its content is not what the type here expects: the text is left.
    return build_from_record(record, origin);
  }
}

std::exception_ptr build_exception(const exception_record& record, std::optional<locality_number> origin) noexcept {
  try {
    if (record.nested == nullptr) return build_outer(record, origin);
    try {
      std::rethrow_exception(build_exception(*record.nested, origin));
    } catch (...) {
      return build_outer(record, origin);
    }
  } catch (...) {
    return std::current_exception();
  }
}

// False: no memory for one byte. Then read_exception finds the end of the message.
bool write_lost(writer& out) noexcept {
  try {
    out(exception_state::lost);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void detail::add_exception_kind(const exception_kind& kind) { known_exceptions().add(kind); }

void write_exception(writer& out, const std::exception_ptr& error) noexcept {
  try {
    if (error == nullptr) {
      out(exception_state::none);
    } else {
      write_record(out, record_of(error, 0));
    }
  } catch (...) {
    write_lost(out);
  }
}

std::exception_ptr read_exception(reader& in, std::optional<locality_number> origin) {
  if (in.left() == 0) return lost_exception(origin);
  const auto state = in.read<exception_state>();
  if (state == exception_state::none) return nullptr;
  if (state == exception_state::lost) return lost_exception(origin);
  if (state != exception_state::recorded) in.fail("the state of an exception, 0 to 2", "another number");
  const auto size = in.read<std::uint64_t>();
  reader content(in.read_bytes(size));
  const auto record = content.read<exception_record>();
  content.must_be_at_end();
  return build_exception(record, origin);
}

}  // namespace trimtab::parcels

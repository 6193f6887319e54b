// How exceptions of one type are described in a message, and built again.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "trimtab/parcels/archive/archive.hpp"

namespace trimtab::parcels::detail {

// What a message has of an exception. With an unknown key it becomes a remote_error.
struct exception_record {
  std::string key;        // std::type_info::name() of the kind; empty: none
  std::string type_name;  // as C++ writes it
  std::string text;
  std::optional<locality_number> locality = {};
  std::vector<std::byte> content = {};  // what the kind needs besides the text
  std::unique_ptr<exception_record> nested = {};
};

struct exception_kind {
  const std::type_info* type = nullptr;
  const std::type_info* nesting_type = nullptr;  // of what std::throw_with_nested throws
  // Adds what the kind needs to a record whose text is there. False: this exception cannot be built again.
  bool (*describe)(const std::exception_ptr& error, exception_record& record) = nullptr;
  // Called within the handler of the nested exception, if there is one. Throws whatever keeps it from building one.
  std::exception_ptr (*build)(const exception_record& record) = nullptr;
};

// With the exception that is being handled nested in it, if the record says that there is one.
template <class T>
std::exception_ptr make_built(T error, const exception_record& record) {
  if constexpr (std::is_class_v<T> && !std::is_final_v<T> && !std::is_base_of_v<std::nested_exception, T>) {
    if (record.nested != nullptr) {
      try {
        std::throw_with_nested(std::move(error));
      } catch (...) {
        return std::current_exception();
      }
    }
  }
  return std::make_exception_ptr(std::move(error));
}

template <class T>
const std::type_info* nesting_type_of() noexcept {
#ifdef __GLIBCXX__
  if constexpr (std::is_class_v<T> && !std::is_final_v<T> && !std::is_base_of_v<std::nested_exception, T>) {
    return &typeid(std::_Nested_exception<T>);
  }
#endif
  return nullptr;
}

template <class T>
bool describe_by_content(const std::exception_ptr& error, exception_record& record) {
  try {
    std::rethrow_exception(error);
  } catch (const T& thrown) {
    byte_buffer bytes;
    writer{bytes}(thrown);
    record.content.assign(bytes.data(), bytes.data() + bytes.size());
    return true;
  } catch (...) {
    return false;
  }
}

inline bool describe_by_text(const std::exception_ptr&, exception_record&) { return true; }

template <class T>
std::exception_ptr build_from_content(const exception_record& record) {
  reader in(record.content);
  T error = in.read<T>();
  in.must_be_at_end();
  return make_built(std::move(error), record);
}

template <class T>
std::exception_ptr build_from_text(const exception_record& record) {
  return make_built(T(record.text), record);
}

// Replaces what was registered for the type.
void add_exception_kind(const exception_kind& kind);

}  // namespace trimtab::parcels::detail

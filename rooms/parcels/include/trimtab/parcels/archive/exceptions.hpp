// Exceptions travel between localities.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "trimtab/parcels/archive/exception_kind.hpp"
#include "trimtab/parcels/archive/remote_error.hpp"

namespace trimtab::parcels {

// Exceptions of the standard library arrive with their type and what(), and so do those of registered types. Others arrive
// as a remote_error that names their type. Nested exceptions (std::throw_with_nested) arrive nested, up to 32 levels.
//
// Appends to the writer, or nothing at all if there is no memory for a byte. A null pointer arrives as one.
void write_exception(writer& out, const std::exception_ptr& error) noexcept;

// origin: where it was thrown; a remote_error that has come a longer way keeps its own. Throws malformed_message.
std::exception_ptr read_exception(reader& in, std::optional<locality_number> origin = {});

// Lets exceptions of exactly this type arrive as they are: T is serializable, or has a constructor that takes what() of
// another as a std::string. Call it before exceptions are sent, on every locality: where it was not called, a remote_error
// arrives. Any thread.
template <class T>
void register_exception() {
  if constexpr (serializable<T>) {
    detail::add_exception_kind(
        {&typeid(T), detail::nesting_type_of<T>(), detail::describe_by_content<T>, detail::build_from_content<T>});
  } else {
    static_assert(std::is_constructible_v<T, std::string>,
                  "trimtab: an exception that is to be registered needs a constructor from std::string, or a function "
                  "`serialize` and a default constructor (or trimtab::parcels::construct<T>)");
    detail::add_exception_kind(
        {&typeid(T), detail::nesting_type_of<T>(), detail::describe_by_text, detail::build_from_text<T>});
  }
}

}  // namespace trimtab::parcels

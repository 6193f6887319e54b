#include "archive/standard_exceptions.hpp"

#include <any>
#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace trimtab::parcels::detail {
namespace {

// A T with another text than it has by itself: some texts can only be set by the standard library. Copies do not throw.
template <class T>
class with_text : public T {
 public:
  with_text(const T& error, const std::string& text) : T(error), m_text(std::make_shared<const std::string>(text)) {}
  const char* what() const noexcept override { return m_text->c_str(); }

 private:
  std::shared_ptr<const std::string> m_text;
};

template <class T>
std::exception_ptr make_with_text(const T& error, const exception_record& record) {
  if (error.what() == record.text) return make_built(error, record);
  return make_built(with_text<T>(error, record.text), record);
}

template <class T>
std::exception_ptr build_without_text(const exception_record& record) {
  return make_with_text(T(), record);
}

struct sent_code {
  std::string category;
  int value = 0;
  std::string cause;  // the text without that of the code
  std::string path1 = {}, path2 = {};
};

// Categories that every program has. Null: another one.
const std::error_category* category_of(std::string_view name) noexcept {
  for (const std::error_category* category :
       {&std::generic_category(), &std::system_category(), &std::iostream_category(), &std::future_category()}) {
    if (category->name() == name) return category;
  }
  return nullptr;
}

// The standard library has put ": " and the code's text behind the cause.
std::string cause_of(std::string_view text, const std::error_code& code) {
  const std::string ending = ": " + code.message();
  return std::string(text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : std::string_view());
}

sent_code code_of(const std::system_error& error) {
  return {error.code().category().name(), error.code().value(), cause_of(error.what(), error.code())};
}

sent_code code_of(const std::future_error& error) { return {error.code().category().name(), error.code().value(), {}}; }

sent_code code_of(const std::filesystem::filesystem_error& error) {
  return {error.code().category().name(), error.code().value(), cause_of(error.std::system_error::what(), error.code()),
          error.path1().native(), error.path2().native()};
}

template <class T>
bool describe_code(const std::exception_ptr& error, exception_record& record) {
  try {
    std::rethrow_exception(error);
  } catch (const T& thrown) {
    byte_buffer bytes;
    writer{bytes}(code_of(thrown));
    record.content.assign(bytes.data(), bytes.data() + bytes.size());
    return true;
  } catch (...) {
    return false;
  }
}

template <class T>
T from_code(const sent_code& sent, const std::error_code& code) {
  if constexpr (std::is_same_v<T, std::future_error>) {
    return T(static_cast<std::future_errc>(code.value()));
  } else if constexpr (std::is_same_v<T, std::filesystem::filesystem_error>) {
    return T(sent.cause, sent.path1, sent.path2, code);
  } else if constexpr (std::is_same_v<T, std::system_error>) {
    return sent.cause.empty() ? T(code) : T(code, sent.cause);
  } else {
    return T(sent.cause, code);
  }
}

template <class T>
std::exception_ptr build_from_code(const exception_record& record) {
  reader in(record.content);
  const auto sent = in.read<sent_code>();
  const std::error_category* const category = category_of(sent.category);
  if (category == nullptr) throw malformed_message("malformed exception: expected a category of the standard library");
  return make_with_text(from_code<T>(sent, std::error_code(sent.value, *category)), record);
}

template <class T>
exception_kind text_kind() noexcept {
  return {&typeid(T), nesting_type_of<T>(), describe_by_text, build_from_text<T>};
}

template <class T>
exception_kind fixed_kind() noexcept {
  return {&typeid(T), nesting_type_of<T>(), describe_by_text, build_without_text<T>};
}

template <class T>
exception_kind code_kind() noexcept {
  return {&typeid(T), nesting_type_of<T>(), describe_code<T>, build_from_code<T>};
}

}  // namespace

std::span<const exception_kind> standard_exceptions() noexcept {
  static const std::array kinds = {
      text_kind<std::runtime_error>(),
      text_kind<std::logic_error>(),
      text_kind<std::invalid_argument>(),
      text_kind<std::domain_error>(),
      text_kind<std::length_error>(),
      text_kind<std::out_of_range>(),
      text_kind<std::range_error>(),
      text_kind<std::overflow_error>(),
      text_kind<std::underflow_error>(),
      text_kind<malformed_message>(),
      fixed_kind<std::exception>(),
      fixed_kind<std::bad_alloc>(),
      fixed_kind<std::bad_array_new_length>(),
      fixed_kind<std::bad_cast>(),
      fixed_kind<std::bad_typeid>(),
      fixed_kind<std::bad_exception>(),
      fixed_kind<std::bad_function_call>(),
      fixed_kind<std::bad_weak_ptr>(),
      fixed_kind<std::bad_optional_access>(),
      fixed_kind<std::bad_variant_access>(),
      fixed_kind<std::bad_any_cast>(),
      code_kind<std::system_error>(),
      code_kind<std::ios_base::failure>(),
      code_kind<std::future_error>(),
      code_kind<std::filesystem::filesystem_error>(),
  };
  return kinds;
}

}  // namespace trimtab::parcels::detail

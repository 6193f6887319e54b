// Exceptions arrive with their type and text, or as a remote_error that has both as text.
#include "trimtab/parcels/archive/exceptions.hpp"

#include <gtest/gtest.h>

#include <any>
#include <filesystem>
#include <functional>
#include <future>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

namespace trimtab::parcels {
namespace {

class unregistered_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class text_error : public std::runtime_error {
 public:
  explicit text_error(const std::string& text) : std::runtime_error(text) {}
};

class value_error : public std::exception {
 public:
  explicit value_error(int value = 0) : m_value(value) {}
  const char* what() const noexcept override { return "a value"; }
  int value() const noexcept { return m_value; }
  template <class archive>
  void serialize(archive& ar) {
    ar(m_value);
  }

 private:
  int m_value;
};

// Cannot be written.
class stubborn_error : public std::exception {
 public:
  const char* what() const noexcept override { return nullptr; }
  template <class archive>
  void serialize(archive&) {
    throw std::runtime_error("not this one");
  }
};

// Cannot be built where it arrives.
class one_way_error : public std::runtime_error {
 public:
  explicit one_way_error(const std::string& text) : std::runtime_error(text) {
    if (s_is_closed) throw std::logic_error("no");
  }
  static inline bool s_is_closed = false;
};

struct not_an_exception {};

std::exception_ptr send(const std::exception_ptr& error, std::optional<locality_number> origin = 7) {
  byte_buffer bytes;
  writer out(bytes);
  out('<');
  write_exception(out, error);
  out('>');
  reader in(bytes.view());
  EXPECT_EQ(in.read<char>(), '<');
  std::exception_ptr arrived = read_exception(in, origin);
  EXPECT_EQ(in.read<char>(), '>');
  in.must_be_at_end();
  return arrived;
}

template <class T>
T caught(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const T& thrown) {
    return thrown;
  }
}

template <class T>
void expect_unchanged(const T& error) {
  try {
    std::rethrow_exception(send(std::make_exception_ptr(error)));
  } catch (const T& arrived) {
    EXPECT_EQ(typeid(arrived), typeid(T));
    EXPECT_STREQ(arrived.what(), error.what());
  }
}

TEST(exceptions, of_the_standard_library_arrive_as_they_are) {
  expect_unchanged(std::runtime_error("text"));
  expect_unchanged(std::logic_error(""));
  expect_unchanged(std::invalid_argument("text"));
  expect_unchanged(std::domain_error("text"));
  expect_unchanged(std::length_error("text"));
  expect_unchanged(std::out_of_range(std::string(1000, 'x')));
  expect_unchanged(std::range_error("text"));
  expect_unchanged(std::overflow_error("text"));
  expect_unchanged(std::underflow_error("text"));
  expect_unchanged(malformed_message("text"));
  expect_unchanged(std::exception());
  expect_unchanged(std::bad_alloc());
  expect_unchanged(std::bad_array_new_length());
  expect_unchanged(std::bad_cast());
  expect_unchanged(std::bad_typeid());
  expect_unchanged(std::bad_exception());
  expect_unchanged(std::bad_function_call());
  expect_unchanged(std::bad_weak_ptr());
  expect_unchanged(std::bad_optional_access());
  expect_unchanged(std::bad_variant_access());
  expect_unchanged(std::bad_any_cast());
}

TEST(exceptions, with_a_code_keep_it) {
  const std::system_error system(ENOENT, std::generic_category(), "cannot read");
  expect_unchanged(system);
  expect_unchanged(std::system_error(EIO, std::system_category()));
  expect_unchanged(std::system_error(12345, std::system_category(), "with: colons: in it"));
  expect_unchanged(std::ios_base::failure("text"));
  expect_unchanged(std::future_error(std::future_errc::broken_promise));
  expect_unchanged(std::filesystem::filesystem_error("cannot open", "/a/b", "c", std::make_error_code(std::errc::io_error)));
  EXPECT_EQ(caught<std::system_error>(send(std::make_exception_ptr(system))).code(), system.code());
  const auto future = std::make_exception_ptr(std::future_error(std::future_errc::no_state));
  EXPECT_EQ(caught<std::future_error>(send(future)).code(), std::future_errc::no_state);
}

class other_category : public std::error_category {
  const char* name() const noexcept override { return "other"; }
  std::string message(int) const override { return "whatever"; }
};

TEST(exceptions, with_a_code_of_another_category_arrive_as_text) {
  const other_category category;
  const auto error = caught<remote_error>(send(std::make_exception_ptr(std::system_error(3, category, "no luck"))));
  EXPECT_STREQ(error.what(), "no luck: whatever");
  EXPECT_EQ(error.type_name(), "std::system_error");
}

TEST(exceptions, keep_a_text_that_only_the_library_can_set) {
  try {
    static_cast<void>(std::get<0>(std::variant<int, double>(2.0)));
  } catch (const std::bad_variant_access& error) {
    EXPECT_STREQ(caught<std::bad_variant_access>(std::current_exception()).what(), error.what());
    try {
      std::rethrow_exception(send(std::current_exception()));
    } catch (const std::bad_variant_access& arrived) {
      EXPECT_STREQ(arrived.what(), error.what());
    }
  }
}

TEST(exceptions, of_other_types_arrive_as_remote_errors) {
  const auto error = caught<remote_error>(send(std::make_exception_ptr(unregistered_error("text"))));
  EXPECT_STREQ(error.what(), "text");
  EXPECT_EQ(error.type_name(), "trimtab::parcels::(anonymous namespace)::unregistered_error");
  EXPECT_EQ(error.locality(), 7u);
  const auto number = caught<remote_error>(send(std::make_exception_ptr(5), std::nullopt));
  EXPECT_STREQ(number.what(), "an exception of type int");
  EXPECT_EQ(number.type_name(), "int");
  EXPECT_EQ(number.locality(), std::nullopt);
}

TEST(exceptions, that_are_forwarded_keep_their_origin) {
  const auto first = send(std::make_exception_ptr(unregistered_error("text")), 3);
  const auto error = caught<remote_error>(send(first, 5));
  EXPECT_STREQ(error.what(), "text");
  EXPECT_EQ(error.type_name(), "trimtab::parcels::(anonymous namespace)::unregistered_error");
  EXPECT_EQ(error.locality(), 3u);
}

TEST(exceptions, that_are_registered_arrive_as_they_are) {
  register_exception<text_error>();
  register_exception<value_error>();
  register_exception<not_an_exception>();
  expect_unchanged(text_error("text"));
  EXPECT_EQ(caught<value_error>(send(std::make_exception_ptr(value_error(42)))).value(), 42);
  EXPECT_NO_THROW(caught<not_an_exception>(send(std::make_exception_ptr(not_an_exception()))));
}

TEST(exceptions, that_cannot_be_written_or_built_arrive_as_remote_errors) {
  register_exception<stubborn_error>();
  register_exception<one_way_error>();
  const auto stubborn = caught<remote_error>(send(std::make_exception_ptr(stubborn_error())));
  EXPECT_STREQ(stubborn.what(), "");
  EXPECT_EQ(stubborn.type_name(), "trimtab::parcels::(anonymous namespace)::stubborn_error");
  const auto one_way = std::make_exception_ptr(one_way_error("text"));
  EXPECT_NO_THROW(caught<one_way_error>(send(one_way)));
  one_way_error::s_is_closed = true;
  EXPECT_STREQ(caught<remote_error>(send(one_way)).what(), "text");
  one_way_error::s_is_closed = false;
}

std::exception_ptr nested_exceptions(int levels) {
  std::exception_ptr error = std::make_exception_ptr(unregistered_error("0"));
  for (int level = 1; level <= levels; ++level) {
    try {
      std::rethrow_exception(error);
    } catch (...) {
      try {
        std::throw_with_nested(std::out_of_range(std::to_string(level)));
      } catch (...) {
        error = std::current_exception();
      }
    }
  }
  return error;
}

std::vector<std::string> nested_texts(std::exception_ptr error) {
  std::vector<std::string> texts;
  while (error != nullptr) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      texts.emplace_back(thrown.what());
      const auto* const outer = dynamic_cast<const std::nested_exception*>(&thrown);
      error = outer != nullptr ? outer->nested_ptr() : nullptr;
    }
  }
  return texts;
}

TEST(exceptions, that_are_nested_arrive_nested) {
  const auto arrived = send(nested_exceptions(2));
  EXPECT_EQ(nested_texts(arrived), (std::vector<std::string>{"2", "1", "0"}));
  EXPECT_STREQ(caught<std::out_of_range>(arrived).what(), "2");
  EXPECT_EQ(nested_texts(send(arrived)), (std::vector<std::string>{"2", "1", "0"})) << "and when they are forwarded";
  EXPECT_EQ(nested_texts(send(nested_exceptions(1000))).size(), 33u);
  try {
    try {
      throw 5;
    } catch (...) {
      std::throw_with_nested(unregistered_error("outer"));
    }
  } catch (...) {
    const auto outer = send(std::current_exception());
    EXPECT_EQ(nested_texts(outer), (std::vector<std::string>{"outer", "an exception of type int"}));
    EXPECT_EQ(caught<remote_error>(outer).type_name(), "trimtab::parcels::(anonymous namespace)::unregistered_error");
  }
}

TEST(exceptions, that_are_none_arrive_as_none) { EXPECT_EQ(send(nullptr), nullptr); }

TEST(exceptions, whose_message_has_no_byte_are_lost_but_reported) {
  reader in(bytes_view{});
  EXPECT_THROW(std::rethrow_exception(read_exception(in)), remote_error);
}

TEST(exceptions, from_changed_messages_are_exceptions_or_malformed) {
  std::mt19937_64 numbers(17);
  byte_buffer original;
  writer out(original);
  write_exception(out, nested_exceptions(3));
  write_exception(out, std::make_exception_ptr(std::system_error(5, std::generic_category(), "cause")));
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    byte_buffer bytes;
    bytes.append(original.view());
    for (std::size_t changes = numbers() % 3 + 1; changes > 0; --changes) {
      bytes.data()[numbers() % bytes.size()] = static_cast<std::byte>(numbers());
    }
    reader in(bytes.view().first(numbers() % (bytes.size() + 1)));
    try {
      static_cast<void>(read_exception(in));
      static_cast<void>(read_exception(in));
    } catch (const malformed_message&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LT(refused, 5000u);
}

}  // namespace
}  // namespace trimtab::parcels

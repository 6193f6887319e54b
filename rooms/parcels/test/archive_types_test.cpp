// What is written is read again, for types of all kinds; and no bytes, however wrong, do harm.
#include <gtest/gtest.h>

#include <memory_resource>
#include <random>
#include <type_traits>

#include "archive_samples.hpp"

namespace trimtab::parcels {
namespace {

// Counts what containers allocate.
class counting_resource : public std::pmr::memory_resource {
 public:
  std::size_t allocated() const noexcept { return m_allocated; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    m_allocated += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::size_t m_allocated = 0;
};

class default_resource_guard {
 public:
  explicit default_resource_guard(std::pmr::memory_resource& resource)
      : m_previous(std::pmr::set_default_resource(&resource)) {}
  ~default_resource_guard() { std::pmr::set_default_resource(m_previous); }

 private:
  std::pmr::memory_resource* m_previous;
};

template <class T>
byte_buffer message_of(const T& value) {
  byte_buffer bytes;
  writer{bytes}(value);
  return bytes;
}

// A count is no reason to reserve memory for big elements: the message may end before them.
TEST(archive, reserves_no_more_than_the_message_may_need) {
  using big = std::optional<std::array<double, 1000>>;
  byte_buffer bytes;
  writer out(bytes);
  out.write_count(100);
  out(std::array<std::uint16_t, 100>{2});  // enough bytes for 100 keys and values; the first is no bool
  const auto allocated = [&bytes](auto type) {
    counting_resource memory;
    const default_resource_guard guard(memory);
    reader in(bytes.view());
    EXPECT_THROW(in.read<typename decltype(type)::type>(), malformed_message);
    return memory.allocated();
  };
  EXPECT_LE(allocated(std::type_identity<std::pmr::vector<big>>()), bytes.size());
  EXPECT_LE(allocated(std::type_identity<std::pmr::unordered_map<bool, big>>()), bytes.size());
}

template <class T>
class archive_type : public testing::Test {
 protected:
  T random() { return samples::random_values(m_numbers).value<T>(); }
  byte_buffer random_message() { return message_of(random()); }

  // Reads a value or finds that the bytes are none. A value that was read can be used and written.
  void read_hostile(bytes_view bytes) {
    counting_resource memory;
    const default_resource_guard guard(memory);
    reader in(bytes);
    try {
      const T value = in.read<T>();
      EXPECT_GE(message_of(value).size(), 1u);
    } catch (const malformed_message& error) {
      ++m_refused;
      EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos);
    }
    EXPECT_LE(memory.allocated(), 1024 + most_memory_per_byte * bytes.size());
  }

  // The list of a map's buckets and nodes for elements of 1 byte; a tree of 48 bytes for 7, and the growth of a vector of
  // these.
  static constexpr std::size_t most_memory_per_byte = 160;
  samples::engine m_numbers{20240611};
  std::size_t m_refused = 0;
};

TYPED_TEST_SUITE_P(archive_type);

TYPED_TEST_P(archive_type, is_read_as_it_was_written) {
  for (int i = 0; i < 100; ++i) {
    const TypeParam value = this->random();
    const byte_buffer message = message_of(value);
    EXPECT_GE(message.size(), detail::least_bytes<TypeParam>());
    reader in(message.view());
    EXPECT_TRUE(samples::are_equal(in.read<TypeParam>(), value));
    in.must_be_at_end();
    reader again(message.view());
    TypeParam other = this->random();
    again(other);
    again.must_be_at_end();
    EXPECT_TRUE(samples::are_equal(other, value)) << "read over another value";
  }
}

TYPED_TEST_P(archive_type, is_refused_if_bytes_are_missing) {
  for (int i = 0; i < 10; ++i) {
    const byte_buffer message = this->random_message();
    for (std::size_t size = 0; size < message.size(); ++size) {
      reader in(message.view().first(size));
      EXPECT_THROW(in.read<TypeParam>(), malformed_message) << size << " of " << message.size() << " bytes";
    }
  }
}

TYPED_TEST_P(archive_type, survives_changed_messages) {
  for (int i = 0; i < 2000; ++i) {
    byte_buffer message = this->random_message();
    for (std::size_t changes = this->m_numbers() % 3 + 1; changes > 0; --changes) {
      std::byte& victim = message.data()[this->m_numbers() % message.size()];
      victim = this->m_numbers() % 2 == 0 ? std::byte{0xff} : static_cast<std::byte>(this->m_numbers());
    }
    this->read_hostile(message.view());
  }
}

TYPED_TEST_P(archive_type, survives_random_bytes) {
  for (int i = 0; i < 2000; ++i) {
    byte_buffer message(this->m_numbers() % 100);
    const unsigned small = this->m_numbers() % 2 == 0 ? 3 : 256;  // small numbers are counts and flags more often
    for (std::size_t byte = 0; byte < message.size(); ++byte)
      message.data()[byte] = static_cast<std::byte>(this->m_numbers() % small);
    this->read_hostile(message.view());
  }
  EXPECT_GT(this->m_refused, 0u);  // messages without a byte are among them
}

REGISTER_TYPED_TEST_SUITE_P(archive_type, is_read_as_it_was_written, is_refused_if_bytes_are_missing,
                            survives_changed_messages, survives_random_bytes);
INSTANTIATE_TYPED_TEST_SUITE_P(all, archive_type, samples::all_types);
INSTANTIATE_TYPED_TEST_SUITE_P(more, archive_type, samples::more_types);

}  // namespace
}  // namespace trimtab::parcels

// Buffers, writers and readers: what they own, where bytes lie, and what they refuse.
#include "trimtab/parcels/archive/archive.hpp"

#include <gtest/gtest.h>

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "archive_samples.hpp"

namespace trimtab::parcels {
namespace {

struct refused_base {
  int number;
};
struct derived_aggregate : refused_base {
  int other;
};
struct with_pointer {
  int number;
  int* pointer;
};
struct with_reference {
  int& number;
};
struct with_constant {
  const int number;
  std::string text;
};
struct seventeen {
  char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
struct with_long_array {
  int number;
  char text[200];
  int numbers[3][4];
};
struct with_bits {
  unsigned low : 3;
  unsigned high : 5;
};
struct with_callback {
  std::function<void()> callback;
};
union number_or_letter {
  int number;
  char letter;
};
class opaque {
 public:
  explicit opaque(int number) : m_number(number) {}

 private:
  int m_number;
};
struct without_default {
  explicit without_default(int) {}
  template <class archive>
  void serialize(archive&) {}
};
struct polymorphic {
  virtual ~polymorphic() = default;
  template <class archive>
  void serialize(archive&) {}
};
struct polymorphic_leaf final : polymorphic {};
enum loose_enumeration { loose_value };

static_assert(serializable<int> && serializable<samples::tree> && serializable<std::vector<samples::account>>);
static_assert(serializable<with_long_array> && serializable<with_bits> && serializable<std::unique_ptr<polymorphic_leaf>>);
static_assert(!serializable<int*> && !serializable<void*> && !serializable<int&> && !serializable<const int> &&
              !serializable<void()>);
static_assert(!serializable<const char*> && !serializable<std::nullptr_t> && !serializable<int opaque::*>);
static_assert(!serializable<std::string_view> && !serializable<std::span<int>> &&
              !serializable<std::reference_wrapper<int>>);
static_assert(!serializable<with_pointer> && !serializable<with_reference> && !serializable<with_constant>);
static_assert(!serializable<std::vector<std::map<int, with_pointer>>> && !serializable<std::pair<int, std::string_view>>);
static_assert(!serializable<derived_aggregate> && !serializable<seventeen> && !serializable<number_or_letter>);
static_assert(!serializable<opaque> && !serializable<without_default> && !serializable<std::vector<without_default>>);
static_assert(!serializable<with_callback> && !serializable<std::any> && !serializable<std::thread> &&
              !serializable<std::shared_ptr<int>>);
static_assert(!serializable<std::unique_ptr<polymorphic>> && !serializable<loose_enumeration> &&
              !serializable<buffer<bool>>);
static_assert(detail::reason_of<std::optional<with_pointer>> == detail::refusal::pointer);
static_assert(detail::reason_of<std::vector<std::string_view>> == detail::refusal::view);
static_assert(detail::reason_of<with_callback> == detail::refusal::unknown);
static_assert(detail::reason_of<without_default> == detail::refusal::unreadable);
static_assert(detail::reason_of<std::vector<loose_enumeration>> == detail::refusal::loose_enumeration);
static_assert(detail::reason_of<std::unique_ptr<polymorphic>> == detail::refusal::polymorphic);

static_assert(detail::field_count<with_long_array> == 3 && detail::field_count<samples::sixteen> == 16);
static_assert(detail::is_flat<with_long_array> && detail::is_flat<with_bits> && !detail::is_flat<samples::switches>);

std::string text_of(const byte_buffer& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string joined(const std::vector<bytes_view>& parts) {
  std::string text;
  for (const bytes_view part : parts) text.append(reinterpret_cast<const char*>(part.data()), part.size());
  return text;
}

std::string refusal_text(bytes_view bytes, void (*read)(reader&)) {
  reader in(bytes);
  try {
    read(in);
    return "accepted";
  } catch (const malformed_message& error) {
    return error.what();
  }
}

TEST(byte_buffer, grows_aligned_and_keeps_content) {
  byte_buffer bytes;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    *bytes.extend(1) = static_cast<std::byte>(i);
    expected.push_back(static_cast<char>(i));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % byte_buffer::alignment, 0u);
  }
  EXPECT_EQ(text_of(bytes), expected);
  const std::size_t capacity = bytes.capacity();
  const std::byte* const data = bytes.data();
  bytes.clear();
  EXPECT_EQ(bytes.size(), 0u);
  bytes.resize_uninitialized(capacity);
  EXPECT_EQ(bytes.data(), data) << "clear() keeps the memory";
  EXPECT_THROW(bytes.extend(std::numeric_limits<std::size_t>::max() - 10), std::length_error);
  EXPECT_EQ(bytes.size(), capacity);
}

TEST(byte_buffer, moves_its_memory) {
  byte_buffer bytes(100);
  const std::byte* const data = bytes.data();
  byte_buffer moved(std::move(bytes));
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(bytes.size(), 0u);  // NOLINT(bugprone-use-after-move): what is left is defined
  bytes = std::move(moved);
  EXPECT_EQ(bytes.data(), data);
  const memory_block block = bytes.release();
  EXPECT_EQ(block.data, data);
  EXPECT_EQ(bytes.capacity(), 0u);
  EXPECT_EQ(byte_buffer::take(block).data(), data);
}

TEST(byte_buffer, gives_taken_memory_back_once) {
  std::byte memory[16] = {};
  int releases = 0;
  const auto count = [](void* context, std::byte*, std::size_t size) noexcept {
    *static_cast<int*>(context) += static_cast<int>(size);
  };
  {
    byte_buffer bytes = byte_buffer::take({memory, sizeof(memory), {count, &releases}});
    EXPECT_EQ(bytes.data(), memory);
    byte_buffer moved(std::move(bytes));
    EXPECT_EQ(releases, 0);
    moved.extend(1);
    EXPECT_NE(moved.data(), memory) << "it has grown into memory of its own";
    EXPECT_EQ(releases, 16);
  }
  EXPECT_EQ(releases, 16);
}

TEST(buffer, takes_a_vector_without_a_copy) {
  std::vector<double> values{1, 2, 3};
  const double* const data = values.data();
  const buffer<double> taken(std::move(values));
  EXPECT_EQ(taken.data(), data);
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(std::accumulate(taken.begin(), taken.end(), 0.0), 6.0);
  EXPECT_THROW(buffer<double>(std::numeric_limits<std::size_t>::max() / 4), std::bad_array_new_length);
}

TEST(writer, has_a_defined_format) {
  byte_buffer bytes;
  writer{bytes}(std::uint16_t{0x0201}, true, std::string("ab"), std::optional<std::int8_t>(7),
                std::vector<std::string>{"", "c"}, std::variant<int, char>('d'), std::vector<bool>{true, false, true});
  using namespace std::string_literals;
  EXPECT_EQ(text_of(bytes), "\1\2\1\2ab\1\7\2\0\1c\1\0d\3\0\0\0\0\0\0\0\5"s);
  byte_buffer longer;
  writer{longer}(std::string(300, 'x'));
  EXPECT_EQ(text_of(longer), "\377\54\1\0\0\0\0\0\0"s + std::string(300, 'x'));
}

TEST(writer, appends_to_what_is_there) {
  byte_buffer bytes;
  for (const char letter : {'a', 'b'}) {
    const std::size_t before = bytes.size();
    writer out(bytes);
    out(letter, std::string(1000, letter));
    EXPECT_EQ(out.size(), bytes.size() - before);
    ASSERT_EQ(out.parts().size(), 1u);
    EXPECT_EQ(out.parts()[0].data(), bytes.data() + before);
    EXPECT_EQ(out.parts()[0].size(), out.size());
  }
  reader in(bytes.view());
  for (const char letter : {'a', 'b'}) {
    EXPECT_EQ(in.read<char>(), letter);
    EXPECT_EQ(in.read<std::string>(), std::string(1000, letter));
  }
  in.must_be_at_end();
  byte_buffer none;
  EXPECT_TRUE(writer(none).parts().empty());
}

struct large_values {
  std::vector<double> vector = std::vector<double>(1000, 1.5);
  buffer<int> ints = buffer<int>(5000);
  std::string text = std::string(5000, 'x');
  large_values() { std::iota(ints.begin(), ints.end(), 0); }

  std::string copied() const {
    byte_buffer bytes;
    writer{bytes}(1, vector, ints, 2, text, std::vector<int>{3});
    return text_of(bytes);
  }
};

std::set<const void*> places_of(const std::vector<bytes_view>& parts) {
  std::set<const void*> places;
  for (const bytes_view part : parts) places.insert(part.data());
  return places;
}

TEST(writer, refers_to_large_blocks_where_they_are) {
  const large_values values;
  byte_buffer bytes;
  bytes.append(std::as_bytes(std::span("before")));
  writer out(bytes, large_blocks::referenced);
  out(1, values.vector, values.ints, 2, values.text, std::vector<int>{3});
  EXPECT_EQ(joined(out.parts()), values.copied());
  EXPECT_EQ(out.size(), values.copied().size());
  const auto places = places_of(out.parts());
  EXPECT_TRUE(places.contains(values.vector.data()) && places.contains(values.ints.data()) &&
              places.contains(values.text.data()));
  EXPECT_LT(bytes.size(), 100u);
}

TEST(writer, keeps_large_blocks_that_are_moved_into_it) {
  const large_values copy;
  large_values values;
  const void* const vector_place = values.vector.data();
  const void* const ints_place = values.ints.data();
  byte_buffer bytes;
  writer out(bytes, large_blocks::kept);
  out(1, std::move(values.vector), std::move(values.ints), 2, values.text, std::vector<int>{3});
  values = large_values();
  values.text.assign(5000, 'y');
  EXPECT_EQ(joined(out.parts()), copy.copied()) << "lvalues were copied, the others are kept";
  EXPECT_EQ(out.parts().size(), 5u);
  const auto places = places_of(out.parts());
  EXPECT_TRUE(places.contains(vector_place) && places.contains(ints_place));
}

TEST(writer, copies_unless_it_is_allowed_to_refer) {
  large_values values;
  byte_buffer bytes;
  writer out(bytes);
  out(std::move(values.vector), std::move(values.ints), std::move(values.text));
  EXPECT_EQ(out.parts().size(), 1u);
  EXPECT_EQ(out.size(), bytes.size());
  EXPECT_EQ(values.ints.size(), 5000u) << "nothing was taken";
}

TEST(writer, copies_small_blocks) {
  std::vector<char> small(writer::large_block - 1);
  std::vector<char> large(writer::large_block);
  byte_buffer bytes;
  writer out(bytes, large_blocks::referenced);
  out(small);
  EXPECT_EQ(out.parts().size(), 1u);
  out(large);
  EXPECT_EQ(out.parts().size(), 2u);
}

struct chain {
  std::unique_ptr<chain> next;
};

std::unique_ptr<chain> chain_of(unsigned length) {
  std::unique_ptr<chain> first;
  for (unsigned i = 0; i < length; ++i) first = std::make_unique<chain>(chain{std::move(first)});
  return first;
}

TEST(archive, limits_how_deep_values_are_nested) {
  byte_buffer bytes;
  writer{bytes}(chain_of(deepest_nesting - 1));
  reader in(bytes.view());
  EXPECT_NE(in.read<std::unique_ptr<chain>>(), nullptr);
  in.must_be_at_end();
  EXPECT_THROW(writer{bytes}(chain_of(deepest_nesting)), std::length_error);
  const std::vector<std::uint8_t> ones(100000, 1);
  EXPECT_EQ(refusal_text(std::as_bytes(std::span(ones)), [](reader& hostile) { hostile.read<std::unique_ptr<chain>>(); }),
            "malformed message at byte 256: expected values nested at most 256 times, found more");
}

TEST(reader, says_what_is_wrong_and_where) {
  const std::uint8_t bytes[] = {2, 1, 1, 1, 1};
  const bytes_view view = std::as_bytes(std::span(bytes));
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<bool>(); }),
            "malformed message at byte 0: expected 0 or 1, found 2");
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<double>(); }),
            "malformed message at byte 0: expected 8 bytes, found 5 left");
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<std::vector<int>>(); }),
            "malformed message at byte 1: expected at most 1 elements of at least 4 bytes, found a count of 2");
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<std::set<char>>(); }),
            "malformed message at byte 3: expected each key once, found a key again");
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<std::variant<int, char>>(); }),
            "malformed message at byte 2: expected the index of an alternative of the variant, found a greater one");
  EXPECT_EQ(refusal_text(view, [](reader& in) { in.read<int>(), in.must_be_at_end(); }),
            "malformed message at byte 4: expected the end of the message, found 1 byte more");
}

TEST(reader, refuses_keys_that_are_not_numbers) {
  byte_buffer bytes;
  writer{bytes}(std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  EXPECT_NE(refusal_text(bytes.view(), [](reader& in) { in.read<std::set<double>>(); }), "accepted");
}

TEST(reader, refuses_counts_that_no_memory_could_hold) {
  for (const std::uint64_t count : {std::uint64_t{1} << 61, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    byte_buffer bytes;
    writer{bytes}(std::uint8_t{255}, count, std::uint64_t{0});
    const auto refused = [&bytes](auto type) {
      reader in(bytes.view());
      EXPECT_THROW(in.read<typename decltype(type)::type>(), malformed_message);
    };
    refused(std::type_identity<std::string>());
    refused(std::type_identity<buffer<double>>());
    refused(std::type_identity<std::vector<std::string>>());
    refused(std::type_identity<std::vector<std::monostate>>());
    refused(std::type_identity<std::map<int, int>>());
    byte_buffer bits;
    writer{bits}(count);
    EXPECT_NE(refusal_text(bits.view(), [](reader& in) { in.read<std::vector<bool>>(); }), "accepted");
  }
}

template <class... T>
constexpr bool are_distinct() {
  const std::uint64_t signatures[] = {type_signature<T>()...};
  for (std::size_t i = 0; i < sizeof...(T); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (signatures[i] == signatures[other]) return false;
    }
  }
  return true;
}

TEST(type_signature, differs_where_bytes_mean_something_else) {
  static_assert(are_distinct<bool, char, std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, float, double, long double,
                             std::string, std::u16string, std::vector<int>, std::vector<unsigned>, std::vector<bool>,
                             std::set<int>, std::map<int, int>, std::array<int, 3>, std::array<int, 4>, std::array<int, 0>,
                             int[5], std::bitset<7>, std::bitset<8>, std::complex<float>, std::chrono::seconds,
                             std::chrono::milliseconds, std::pair<int, float>, std::pair<float, int>, std::tuple<int>,
                             std::tuple<>, std::optional<int>, std::variant<int>, std::variant<int, int>, samples::color,
                             samples::answer, samples::particle, samples::switches, samples::tree, samples::sixteen,
                             samples::with_member, samples::with_function, samples::vector3, samples::account>());
  static_assert(type_signature<std::vector<int>>() == type_signature<std::list<int>>() &&
                    type_signature<std::vector<int>>() == type_signature<buffer<int>>(),
                "they have the same bytes");
  static_assert(type_signature<long>() == type_signature<long long>());
  static_assert(type_signature<int, char>() != type_signature<char, int>() && type_signature<>() != type_signature<int>());
}

// The same on other compilers, processors and library versions: builds of the same program may meet.
TEST(type_signature, is_the_same_everywhere) {
  EXPECT_EQ((type_signature<int, std::vector<double>, samples::tree>()), 15222902628478681507u);
  EXPECT_EQ((type_signature<samples::with_member>()), 1834393265154087190u);
  EXPECT_EQ(detail::type_text<samples::with_member>(), "trimtab::parcels::samples::with_member");
}

}  // namespace
}  // namespace trimtab::parcels

#include "transport/tcp_siphash.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace trimtab::parcels::tcp {

namespace {

// The input and the key of the paper's appendix: bytes that count up from 0.
std::string code_of_counting_bytes(std::size_t count) {
  siphash_key key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  std::vector<std::byte> input;
  for (std::size_t i = 0; i < count; ++i) input.push_back(static_cast<std::byte>(i));
  std::string text;
  for (const std::byte code : siphash(key, input)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02X", static_cast<unsigned>(code));
    text += digits;
  }
  return text;
}

}  // namespace

// What `openssl mac -macopt size:16 SIPHASH` says, and the authors' table.
TEST(tcp_siphash, agrees_with_other_implementations) {
  EXPECT_EQ(code_of_counting_bytes(0), "A3817F04BA25A8E66DF67214C7550293");
  EXPECT_EQ(code_of_counting_bytes(1), "DA87C1D86B99AF44347659119B22FC45");
  EXPECT_EQ(code_of_counting_bytes(7), "A1F1EBBED8DBC153C0B84AA61FF08239");
  EXPECT_EQ(code_of_counting_bytes(8), "3B62A9BA6258F5610F83E264F31497B4");
  EXPECT_EQ(code_of_counting_bytes(15), "5493E99933B0A8117E08EC0F97CFC3D9");
  EXPECT_EQ(code_of_counting_bytes(63), "5150D1772F50834A503E069A973FBD7C");
}

TEST(tcp_siphash, codes_that_differ_in_one_bit_differ) {
  const siphash_code code = siphash({}, {});
  EXPECT_TRUE(is_same_code(code, code));
  for (std::size_t i = 0; i < 8 * code.size(); ++i) {
    siphash_code changed = code;
    changed[i / 8] ^= static_cast<std::byte>(1u << (i % 8));
    EXPECT_FALSE(is_same_code(code, changed)) << "bit " << i;
  }
}

}  // namespace trimtab::parcels::tcp

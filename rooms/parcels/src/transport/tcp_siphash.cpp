#include "transport/tcp_siphash.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace trimtab::parcels::tcp {

namespace {

static_assert(std::endian::native == std::endian::little, "words of the code and of frames are little-endian");

std::uint64_t siphash_word(const std::byte* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Four words of state, which begin as "somepseudorandomlygeneratedbytes" mixed with the key (section 2.1 of the paper).
class siphash_state {
 public:
  explicit siphash_state(const siphash_key& key) noexcept {
    const std::uint64_t low = siphash_word(key.data());
    const std::uint64_t high = siphash_word(key.data() + 8);
    m_a = low ^ 0x736f6d6570736575u;
    m_b = high ^ 0x646f72616e646f6du ^ 0xee;  // 0xee here and below: 128 bits of output
    m_c = low ^ 0x6c7967656e657261u;
    m_d = high ^ 0x7465646279746573u;
  }

  void compress(std::uint64_t word) noexcept {
    m_d ^= word;
    for (int i = 0; i < 2; ++i) mix_once();
    m_a ^= word;
  }

  siphash_code finish() noexcept {
    m_c ^= 0xee;
    const std::uint64_t low = finish_word();
    m_b ^= 0xdd;
    const std::uint64_t high = finish_word();
    siphash_code code;
    std::memcpy(code.data(), &low, sizeof low);
    std::memcpy(code.data() + sizeof low, &high, sizeof high);
    return code;
  }

 private:
  std::uint64_t finish_word() noexcept {
    for (int i = 0; i < 4; ++i) mix_once();
    return m_a ^ m_b ^ m_c ^ m_d;
  }

  // SipRound, figure 2.1 of the paper.
  void mix_once() noexcept {
    m_a += m_b;
    m_b = std::rotl(m_b, 13) ^ m_a;
    m_a = std::rotl(m_a, 32);
    m_c += m_d;
    m_d = std::rotl(m_d, 16) ^ m_c;
    m_a += m_d;
    m_d = std::rotl(m_d, 21) ^ m_a;
    m_c += m_b;
    m_b = std::rotl(m_b, 17) ^ m_c;
    m_c = std::rotl(m_c, 32);
  }

  std::uint64_t m_a, m_b, m_c, m_d;
};

}  // namespace

siphash_code siphash(const siphash_key& key, std::span<const std::byte> bytes) noexcept {
  siphash_state state(key);
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) state.compress(siphash_word(bytes.data() + i));
  std::array<std::byte, 8> last{};
  for (std::size_t i = whole; i < bytes.size(); ++i) last[i - whole] = bytes[i];
  last[7] = static_cast<std::byte>(bytes.size() & 0xff);
  state.compress(siphash_word(last.data()));
  return state.finish();
}

bool is_same_code(const siphash_code& left, const siphash_code& right) noexcept {
  unsigned differences = 0;
  for (std::size_t i = 0; i < left.size(); ++i) differences |= static_cast<unsigned>(left[i] ^ right[i]);
  return differences == 0;
}

}  // namespace trimtab::parcels::tcp

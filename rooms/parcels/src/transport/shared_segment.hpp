// The file that the members of a job have mapped: who makes it, who is in it, and where its parts are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/byte_ring.hpp"
#include "transport/segment_layout.hpp"
#include "trimtab/parcels/transport/membership.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"

namespace trimtab::parcels {

class shared_segment {
 public:
  shared_segment() = default;
  ~shared_segment();  // the member's state stays as it is
  shared_segment(const shared_segment&) = delete;
  shared_segment& operator=(const shared_segment&) = delete;

  // Opens the file, makes its header if nobody has, and enters this member. Empty, or an error. Whoever ends in the middle,
  // even by SIGKILL, leaves a file that the next one can make or use.
  std::string join(const membership& self, const shm_options& options);
  // Until all members have entered.
  std::string wait_for_all(std::uint64_t patience_ns);

  const segment_layout& layout() const { return m_layout; }
  member_slot& slot(locality_number member) const { return *at<member_slot>(m_layout.slot(member)); }
  member_attention& attention(locality_number member) const { return *at<member_attention>(m_layout.attention(member)); }
  ring_memory ring(locality_number from, locality_number to) const {
    return {at<ring_control>(m_layout.control(from, to)), at<std::byte>(m_layout.data(from, to)), m_layout.ring_bytes()};
  }

 private:
  template <class type>
  type* at(std::size_t offset) const {
    return reinterpret_cast<type*>(m_memory + offset);
  }
  segment_header& header() const { return *at<segment_header>(0); }

  std::string lock(const membership& self);
  std::string join_locked(const membership& self, const shm_options& options);
  std::string make(const membership& self, const shm_options& options);
  std::string check(const segment_header& present, const membership& self) const;
  std::string map();
  std::string enter(const membership& self);
  std::optional<locality_number> first_absent() const;
  std::string system_error(const char* action) const;

  std::string m_path;
  int m_descriptor = -1;
  segment_layout m_layout{0, 0};
  std::byte* m_memory = nullptr;
};

}  // namespace trimtab::parcels

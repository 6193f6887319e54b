// Where members with shared memory meet in tests: a memory file that vanishes with its last user.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "transport_contract.hpp"
#include "trimtab/parcels/transport/shm_transport.hpp"

namespace trimtab::parcels {

class shm_meeting final : public meeting_point {
 public:
  explicit shm_meeting(std::size_t ring_bytes) : m_ring_bytes(ring_bytes) {}
  ~shm_meeting() override { close(m_file); }

  opened_transport open(const membership& self) override { return open_shm(self, {path(), m_ring_bytes}); }
  std::string path() const { return "/proc/" + std::to_string(m_owner) + "/fd/" + std::to_string(m_file); }
  int file() const { return m_file; }

 private:
  std::size_t m_ring_bytes;
  int m_file = memfd_create("parcels", MFD_CLOEXEC);
  pid_t m_owner = getpid();
};

inline transport_kind shm_kind(const std::string& name, std::size_t ring_bytes) {
  transport_kind kind;
  kind.name = name;
  kind.new_meeting = [ring_bytes](std::uint32_t) { return std::make_unique<shm_meeting>(ring_bytes); };
  kind.most_bytes_under_way = ring_bytes;
  return kind;
}

}  // namespace trimtab::parcels

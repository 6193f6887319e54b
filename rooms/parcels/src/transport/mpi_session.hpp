// A process's part in an MPI job: its number, the communicator of this transport, and what the others have said of
// themselves. Used by the server's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "transport/mpi_library.hpp"
#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels::mpi {

struct member {
  std::string host = {};
  std::int64_t process = 0;
};

class session {
 public:
  explicit session(const library& mpi) : m_mpi(mpi) {}

  // Collective. prepare: what this process needs for a job of that size; false: it has no memory. The result is an error,
  // for all processes if one of them cannot start, or empty. After an error, close() is still necessary.
  std::string open(const mpi_options& options, const std::function<bool(std::uint32_t size)>& prepare);
  // Collective: all others must close theirs, too.
  void close() noexcept;

  locality_number number() const noexcept { return m_number; }
  const std::vector<member>& members() const noexcept { return m_members; }
  handle communicator() const noexcept { return m_communicator; }
  std::string error_text(int code) const;

 private:
  struct greeting;
  std::string initialize();
  std::string enter();
  std::string greet(const greeting& own, const std::string& problem);
  std::string check(const greeting& own, const greeting& other, locality_number number) const;
  std::string call_error(const char* function, int code) const;

  const library& m_mpi;
  bool m_is_initialized_here = false;
  handle m_communicator = 0;
  locality_number m_number = 0;
  std::uint32_t m_size = 0;
  std::vector<member> m_members = {};
};

}  // namespace trimtab::parcels::mpi

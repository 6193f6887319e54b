// The test-suite that every transport passes. A transport's own test file describes the transport and instantiates the
// suite:
//
//   INSTANTIATE_TEST_SUITE_P(shm, transport_contract, ::testing::Values(transport_kind{...}), kind_name);
//
// The tests are in transport_contract*.cpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "trimtab/parcels/transport/membership.hpp"

namespace trimtab::parcels {

// Where the members of one job meet, such as a shared file or a port.
class meeting_point {
 public:
  meeting_point() = default;
  meeting_point(const meeting_point&) = delete;
  meeting_point& operator=(const meeting_point&) = delete;
  virtual ~meeting_point() = default;
  // Called once for each member, at the same time by several threads, or by processes that were forked after the meeting
  // point had been made.
  virtual opened_transport open(const membership& self) = 0;
};

struct transport_kind {
  std::string name = {};  // letters, digits and underscores
  std::function<std::unique_ptr<meeting_point>(std::uint32_t size)> new_meeting = {};
  bool can_fork = true;           // members may be in forked processes, and their death is noticed
  bool checks_membership = true;  // another secret and another size are errors, and so is a member that does not come
  std::uint32_t most_members = 4;
  // The most bytes that a sender may have taken over for one receiver that does not receive.
  std::size_t most_bytes_under_way = std::size_t{256} << 20;
};

inline std::string kind_name(const ::testing::TestParamInfo<transport_kind>& parameter) { return parameter.param.name; }
inline void PrintTo(const transport_kind& kind, std::ostream* stream) { *stream << kind.name; }

class transport_contract : public ::testing::TestWithParam<transport_kind> {
 protected:
  // Opens all members of a job, each on a thread of its own. Empty, and a failure, if one cannot be opened.
  std::vector<std::unique_ptr<transport>> open_all(std::uint32_t size);
  // The same; then each member's thread calls `work`, and they leave when all have done their work.
  void run_all(std::uint32_t size, const std::function<void(transport&)>& work);
  void run_links(std::vector<std::unique_ptr<transport>>& links, const std::function<void(transport&)>& work);
  // What the members get that open the job at the same time.
  std::vector<opened_transport> open_these(const std::vector<membership>& members, std::uint32_t meeting_size);
};

}  // namespace trimtab::parcels

// What a policy of the user's is told of the machine where nobody fits threads, who would tell: CPUs allowed, idle, paid
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/observe/cpu_watch.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::session {

// One thread: the one that ends windows.
class machine_look {
 public:
  machine_look();
  void add_to(std::vector<steer::figure>& figures);

 private:
  observe::cpu_watch m_watch;
  std::vector<steer::figure> m_latest;  // of the window that ended last
  std::uint64_t m_windows = 0;
  bool m_has_begun = false;
};

}  // namespace trimtab::session

// Who the calling thread says that it is, while it is in a function that is run by virtual threads
// (steering/virtual_threads.hpp).
#pragma once

#include <cstdint>

namespace trimtab::openmp {

struct virtual_thread {
  bool is_in;
  bool has_asked_number, has_asked_threads;
  std::uint32_t number;
  std::uint32_t threads;  // 0: itself
};
extern constinit thread_local virtual_thread t_virtual;

}  // namespace trimtab::openmp

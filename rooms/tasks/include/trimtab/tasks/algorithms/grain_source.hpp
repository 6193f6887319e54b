// Chooses the grain size of a loop if the program leaves it to the runtime (adaptive_chunks). for_loop, for_each and
// transform ask it if more than one worker may take part. A runtime may have no source.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/core/spawn.hpp"

namespace trimtab::tasks {

// A call of an algorithm in the program. The texts have static storage; places are distinguished by their addresses.
struct loop_place {
  const char* algorithm;
  const char* file;
  std::uint32_t line;
  const annotation* name;  // its name; nullptr: none
};

class grain_source {
 public:
  struct choice {
    std::size_t grain = 0;  // indices of a piece; 0: adaptive, as without a source
    // The source's own, for `end`.
    void* loop = nullptr;
    std::uint64_t under = 0;
    std::uint64_t workers_under = 0;
    double joules = 0;
  };
  // Called on the worker that calls the algorithm, before and after it; by several workers at the same time.
  virtual choice begin(const loop_place& place, std::size_t length) noexcept = 0;
  virtual void end(const choice& chosen, std::size_t length, base::ticks took) noexcept = 0;

 protected:
  ~grain_source() = default;
};

}  // namespace trimtab::tasks

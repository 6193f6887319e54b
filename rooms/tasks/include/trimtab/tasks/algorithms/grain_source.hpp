// Who chooses how long the pieces of a loop are, where the program leaves it to the runtime (adaptive_chunks). Asked by
// for_loop, for_each and transform that more than one worker may take part in; a runtime without a source asks nobody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/core/spawn.hpp"

namespace trimtab::tasks {

// A call of an algorithm in the program. Of static storage, and told apart by their addresses.
struct loop_place {
  const char* algorithm;
  const char* file;
  std::uint32_t line;
  const annotation* name;  // its name; nullptr: none was given
};

class grain_source {
 public:
  struct choice {
    std::size_t grain = 0;  // indices of a piece; 0: adaptive, as without a source
    // The source's own, for `end`.
    void* loop = nullptr;
    std::uint64_t under = 0;
    std::uint64_t workers_under = 0;
  };
  // On the worker that calls the algorithm, before and after; several may at the same time.
  virtual choice begin(const loop_place& place, std::size_t length) noexcept = 0;
  virtual void end(const choice& chosen, std::size_t length, base::ticks took) noexcept = 0;

 protected:
  ~grain_source() = default;
};

}  // namespace trimtab::tasks

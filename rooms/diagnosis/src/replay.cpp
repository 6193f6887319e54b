#include "trimtab/diagnosis/replay.hpp"

#include <utility>

#include "simulation.hpp"

namespace trimtab::diagnosis {

std::optional<replayed> replay(const work& program, std::string* problem) {
  const auto step_of = [&](std::size_t at) -> const step& { return program.steps[at]; };
  const kept_links links(program.links);
  simulation run(program.steps.size(), step_of, program.lanes, program.pools, links.columns());
  run.keep_begins();
  return run.run(problem) ? std::optional(std::move(run.result())) : std::nullopt;
}

}  // namespace trimtab::diagnosis

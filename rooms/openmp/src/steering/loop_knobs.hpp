// The knobs of loops, as the engine sees them and as plans have them.
#pragma once

#include <optional>

#include "steering/steered_loops.hpp"
#include "trimtab/steer/knob.hpp"
#include "trimtab/steer/settings.hpp"

namespace trimtab::openmp {

// Loops whose chunks are handed out on demand; one block a thread; blocks of a chunk that go round; GCC's inlined ones.
enum class family : std::uint8_t { dynamic, blocks, chunks, inlined };
family family_of(const site_key& key) noexcept;

// Positions among the knobs of the first kind; values of the second's only one.
enum dynamic_knob : std::uint32_t { schedule_knob, chunk_knob, first_knob };
inline constexpr steer::knob_value weighted = 1;

// iteration_s: of one iteration, as far as is known; else 0.
std::vector<steer::knob> knobs_of(const site_key& key, std::uint32_t members, double iteration_s);
// In the order of the knobs. since and before are its publisher's.
loop_plan plan_of(family kind, const std::vector<steer::knob_value>& values, const cost_profile& costs,
                  std::uint64_t decision_number);
// What earlier runs found; nothing where it is of another version.
std::optional<loop_plan> plan_of(const steer::setting& saved);

}  // namespace trimtab::openmp

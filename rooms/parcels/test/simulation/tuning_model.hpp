// Localities that tune the same knobs, in simulated time: each works in epochs, which take as long as the cost of its values
// says, and messages between them take the network's time. The code that searches is that of real jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trimtab/steer/shared_search.hpp"

namespace trimtab::parcels::simulation {

struct tuned_program {
  std::vector<steer::knob> knobs;  // the initial values are those of the program
  // Seconds of an epoch, without noise, on a locality of speed 1.
  std::function<double(const steer::knob_values& values)> epoch_s;
};

struct tuning_parameters {
  std::uint32_t localities = 1;
  bool is_together = true;   // false: each locality searches alone
  double noise = 0;          // spread of an epoch's time, as a share; with it 2 % of the epochs take up to twice as long
  double slowest = 1;        // the last locality takes so many times as long as the first, the others are in between
  double message_s = 50e-6;  // from a report to the search, and from the search to a member
  double most_s = 1e6;       // simulated
  std::uint64_t seed = 1;
  steer::shared_search_options search = {};
  std::uint32_t lost = 0;  // so many localities are lost: the last ones, one after the other, from the tenth epoch on
};

struct tuning_outcome {
  double settled_s = 0;          // until all localities run with the result of their search
  double epochs = 0;             // of all localities until then, divided by their number
  double slowest_final = 0;      // epoch_s of the result of the locality with the worst one
  std::uint32_t candidates = 0;  // measured, all searches together
  bool is_settled = false;       // false: not within most_s
  bool is_same_everywhere = false;
};

tuning_outcome simulate_tuning(const tuned_program& program, const tuning_parameters& parameters);

// One epoch's time with a spread of `share`, and now and then a disturbed one.
double with_noise(double seconds, double share, steer::random_source& source);

}  // namespace trimtab::parcels::simulation

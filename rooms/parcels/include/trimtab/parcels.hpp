// Jobs of several processes, whole: each process is a locality with a task runtime, and calls functions on the others.
// trimtab::async and trimtab::post take a locality first, or run a task here.
#pragma once

#include "trimtab/parcels/archive/archive.hpp"
#include "trimtab/parcels/archive/exceptions.hpp"
#include "trimtab/parcels/job/balanced.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/job/tuned_together.hpp"
#include "trimtab/tasks.hpp"

namespace trimtab {

// Beside those of tasks.hpp: which one a call means, its first argument says.
using parcels::async;
using parcels::post;

using parcels::async_balanced;
using parcels::post_balanced;

using parcels::buffer;
using parcels::coalescing;
using parcels::find_all_localities;
using parcels::find_here;
using parcels::job;
using parcels::job_options;
using parcels::known_load;
using parcels::load_sharing_options;
using parcels::locality;
using parcels::locality_lost;
using parcels::locality_number;
using parcels::register_exception;
using parcels::remote_error;
using parcels::set_coalescing;
using parcels::tuned_knob;
using parcels::tuned_together;

}  // namespace trimtab

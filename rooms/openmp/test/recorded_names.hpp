// Names of the room observe that tests of what is recorded use all the time.
#pragma once

#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;

}  // namespace trimtab::openmp

// The many-task runtime, whole.
#pragma once

#include "trimtab/tasks/async.hpp"
#include "trimtab/tasks/future.hpp"
#include "trimtab/tasks/invoke.hpp"
#include "trimtab/tasks/runtime.hpp"

namespace trimtab {

using tasks::invoke;
using tasks::policy;
using tasks::priority;
using tasks::runtime;
using tasks::runtime_options;

}  // namespace trimtab

// The many-task runtime, whole.
#pragma once

#include "trimtab/tasks/async.hpp"
#include "trimtab/tasks/future.hpp"
#include "trimtab/tasks/invoke.hpp"
#include "trimtab/tasks/runtime.hpp"
#include "trimtab/tasks/task_scope.hpp"

namespace trimtab {

using tasks::async;
using tasks::dataflow;
using tasks::future;
using tasks::invoke;
using tasks::make_exceptional_future;
using tasks::make_ready_future;
using tasks::policy;
using tasks::post;
using tasks::priority;
using tasks::promise;
using tasks::runtime;
using tasks::runtime_options;
using tasks::shared_future;
using tasks::stopped;
using tasks::task_options;
using tasks::task_scope;
using tasks::unwrapping;

}  // namespace trimtab

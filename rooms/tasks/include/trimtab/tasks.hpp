// The many-task runtime, whole.
#pragma once

#include "trimtab/tasks/algorithms/algorithm.hpp"
#include "trimtab/tasks/core/counters.hpp"
#include "trimtab/tasks/core/invoke.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/task_scope.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/coroutines/await_future.hpp"
#include "trimtab/tasks/coroutines/coroutine_fork.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/futures/future.hpp"
#include "trimtab/tasks/futures/when.hpp"
#include "trimtab/tasks/graph/graph.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/condition_variable.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"
#include "trimtab/tasks/sync/shared_mutex.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab {

using tasks::access_mode;
using tasks::adaptive_chunks;
using tasks::after;
using tasks::annotation;
using tasks::async;
using tasks::barrier;
using tasks::binary_semaphore;
using tasks::block;
using tasks::channel;
using tasks::chunking;
using tasks::condition_variable;
using tasks::condition_variable_any;
using tasks::constant;
using tasks::counting_semaphore;
using tasks::dataflow;
using tasks::dynamic_chunks;
using tasks::event;
using tasks::event_kind;
using tasks::exclusive_scan;
using tasks::exclusive_write;
using tasks::find_counters;
using tasks::for_each;
using tasks::for_loop;
using tasks::fork;
using tasks::future;
using tasks::graph;
using tasks::graph_error;
using tasks::graph_task;
using tasks::guided_chunks;
using tasks::identity;
using tasks::inclusive_scan;
using tasks::invoke;
using tasks::latch;
using tasks::loop_options;
using tasks::make_exceptional_future;
using tasks::make_ready_future;
using tasks::mutex;
using tasks::ordered_chunks;
using tasks::output;
using tasks::policy;
using tasks::post;
using tasks::priority;
using tasks::promise;
using tasks::read_only;
using tasks::read_write;
using tasks::reduce;
using tasks::runtime;
using tasks::runtime_options;
using tasks::shared_future;
using tasks::shared_mutex;
using tasks::snapshot;
using tasks::sort;
using tasks::spawn;
using tasks::stable_sort;
using tasks::static_chunks;
using tasks::stopped;
using tasks::task_id;
using tasks::task_options;
using tasks::task_scope;
using tasks::transform;
using tasks::transform_reduce;
using tasks::unwrapping;
using tasks::when_all;
using tasks::when_any;
using tasks::when_some;

namespace this_task = tasks::this_task;

// One of find_counters. trimtab::counter is that of trimtab.h, a counter of the program's own.
using runtime_counter = tasks::counter;

// A coroutine.
template <class value = void>
using task = tasks::co_task<value>;

}  // namespace trimtab

// Parallel algorithms over iterators and ranges of indices. The first argument of each may say how: a chunking, or
// loop_options. They may be called anywhere: in tasks, inside each other, and on threads that are no workers.
#pragma once

#include "trimtab/tasks/algorithms/loop.hpp"
#include "trimtab/tasks/algorithms/reduce.hpp"
#include "trimtab/tasks/algorithms/scan.hpp"
#include "trimtab/tasks/algorithms/sort.hpp"

// Parallel algorithms over iterators and ranges of indices. The first argument of each may say how: a chunking, or
// loop_options. They may be called anywhere: in tasks, inside each other, and on threads that are no workers.
#pragma once

#include "trimtab/tasks/algorithm_loop.hpp"
#include "trimtab/tasks/algorithm_reduce.hpp"
#include "trimtab/tasks/algorithm_scan.hpp"
#include "trimtab/tasks/algorithm_sort.hpp"

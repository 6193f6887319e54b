// Which runtimes give their tasks identities. A trace says whose tasks have none.
#pragma once

#include "runtimes/runtimes.hpp"

namespace trimtab::openmp {

// True when `of` tells us its tasks' identities.
bool has_identities(const runtime* library) noexcept;

// A trace has a task of it that will have no identity (nullptr: not known whose).
void tasks_are_unnamed(const runtime* library) noexcept;

bool has_unnamed_tasks(runtime_family family) noexcept;

// The runtime that `address` lies in gives its tasks identities from now on. False: there are too many such runtimes.
bool gives_identities(const void* address) noexcept;

}  // namespace trimtab::openmp

// What a file is for, by its path: Spark's own files have names of a fixed form.
#pragma once

#include <cstddef>

#include "trimtab/observe/format.hpp"

namespace trimtab::storage {

struct path_group {
  observe::storage_class file_class = observe::storage_class::other;
  char text[sizeof(observe::storage_row::group)] = {};
};

// How a file was opened.
struct open_manner {
  bool is_writing;
  bool is_task;  // by a thread that runs a task of Spark
};

// The group that counts the calls on a file. Allocates nothing.
path_group group_of(const char* path, open_manner manner) noexcept;

}  // namespace trimtab::storage

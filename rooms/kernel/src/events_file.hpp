// events.tt: every event, for traces. It grows at its end, and readers may look at any time.
#pragma once

#include <cstdint>
#include <string>

#include "trimtab/base/appended_file.hpp"
#include "trimtab/kernel/scheduler_event.hpp"

namespace trimtab::kernel {

class events_file {
 public:
  // path: must not exist; most_bytes: of records. 0, or what errno calls the mistake.
  int create(const std::string& path, std::uint64_t most_bytes);
  // Does nothing before create(). What finds no room is counted in the file.
  void append(const scheduler_event& happened) noexcept;

 private:
  base::appended_file m_file;
  std::uint64_t m_most = 0;  // events
};

}  // namespace trimtab::kernel

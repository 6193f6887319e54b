// Says when processes of this host end. A thread of its own sleeps until then, without using the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

struct watched_process {
  locality_number number;
  std::int64_t process;
  std::uint64_t start_time;  // see start_time_of
};

// In the kernel's clock ticks since boot: with the process id, it names one process among all that ever have that id. 0:
// there is no such process, or it has ended and only its parent does not know yet.
std::uint64_t start_time_of(std::int64_t process);

class process_watch {
 public:
  process_watch() = default;
  ~process_watch();  // after that, on_end is not called any more
  process_watch(const process_watch&) = delete;
  process_watch& operator=(const process_watch&) = delete;

  // Once. on_end: called on the watching thread, once for each process that ends or has ended already. Empty, or an error.
  std::string start(const std::vector<watched_process>& processes, std::function<void(locality_number)> on_end);

 private:
  struct watched {
    watched_process identity;
    int descriptor;  // -1: the kernel gives none, and start times are compared periodically
  };

  void run() noexcept;
  bool sleep();  // false: to stop
  void report_ended();
  bool has_ended(const watched& process) const;

  std::function<void(locality_number)> m_on_end;
  std::vector<watched> m_watched;
  int m_stop_event = -1;
  std::thread m_thread;
};

}  // namespace trimtab::parcels

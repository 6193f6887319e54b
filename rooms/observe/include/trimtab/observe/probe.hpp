// A probe reads one source of figures of the operating system and turns them into samples or events.
// One file each under src/probes, one row each in probe_table; each degrades to "not available" by
// recorder.unavailable(what, why, remedy). Called by the sampler thread only, except lane_opened/lane_closed,
// which the lane's own thread calls (for descriptors that must be opened by it).
#pragma once

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

class probe {
 public:
  virtual ~probe() = default;
  // False: not available on this machine (told through recorder.unavailable); it is then not called again.
  virtual bool start(recorder& to) noexcept = 0;
  virtual void sample(recorder& to, base::ticks at) noexcept = 0;
  virtual void stop(recorder& to, base::ticks at) noexcept { sample(to, at); }
  virtual void lane_opened(recorder&, lane&) noexcept {}
  virtual void lane_closed(recorder&, lane&) noexcept {}
};

struct probe_row {
  const char* name;      // as in --with
  const char* help;
  bool is_default;
  probe* (*instance)();  // static storage, one per process
};

// All probes, in the order of docs; ends with a row whose name is nullptr.
extern const probe_row* const probe_table;

// The sampler thread: started with the first lane (a program that never records stays single-threaded), blocks
// all signals, wakes every period_ms, stretches the period so that its own CPU time stays under 0.2 %.
struct sampler_options {
  std::uint32_t period_ms = 10;
  const char* probes = nullptr;  // comma list; nullptr: the defaults. "+NAME" adds to the defaults, "none"
};
// configure is called before any lane opens. All are idempotent and never throw.
void sampler_configure(const sampler_options& options) noexcept;
void sampler_lane_opened(recorder& to, lane& which) noexcept;  // starts the thread when it is the first
void sampler_lane_closed(recorder& to, lane& which) noexcept;
void sampler_stop(recorder& to) noexcept;        // last samples; at orderly exit
void sampler_after_fork() noexcept;              // in the child: no thread, closed descriptors

}  // namespace trimtab::observe

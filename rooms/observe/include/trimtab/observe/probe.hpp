// A probe reads one source of figures of the operating system and turns them into samples or events.
// One file each under src/probes, one row each in probe_table; each degrades to "not available" by
// recorder.unavailable(what, why, remedy). docs/reference/counters.md says what each row's figures mean.
//
// Threads: attached runs while the library loads; start, lane_opened and lane_closed on lanes' threads (start
// once, before any other); sample on the sampler thread; stop on the thread that ends the process, with the
// sampler kept out. A probe locks what lane_* and sample share. Nothing here allocates or keeps the
// signals of its host waiting for long. Instances live in static storage and need no destructor: the sampler
// may still run while the program's static objects go.
#pragma once

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

class probe {
 public:
  // While the library loads, before any lane: for what must be known from the program's beginning.
  virtual void attached() noexcept {}
  // root: put before /proc and /sys ("" but in tests); must outlive the probe.
  // False: not available on this machine (told through recorder.unavailable); it is then not called again.
  virtual bool start(recorder& to, const char* root) noexcept = 0;
  virtual void sample(recorder& to, base::ticks at) noexcept = 0;
  virtual void stop(recorder& to, base::ticks at) noexcept { sample(to, at); }
  // Instead of start and stop in a process with one thread and no lane that ends after some milliseconds, by what counts
  // from the begin: what it used, with as few calls as possible.
  virtual void count_short(recorder&, base::ticks) noexcept {}
  virtual void lane_opened(recorder&, lane&) noexcept {}
  virtual void lane_closed(recorder&, lane&) noexcept {}
  // In the child of a fork: forget the parent's lanes; start comes again if the child records.
  virtual void after_fork() noexcept {}

 protected:
  ~probe() = default;
};

struct probe_row {
  const char* name;  // as in --with
  const char* help;
  bool is_default;
  std::uint32_t period_ms;         // shortest; stretched when the probe turns out to be expensive
  probe* (*instance)();            // static storage, one per process
  bool counts_from_begin = false;  // also of a process without lanes: started and stopped at its end
  double own_share = 0;            // of one CPU, that its samples may take; 0: an equal part of what all share
};

// All probes, in the order of docs; ends with a row whose name is nullptr.
extern const probe_row* const probe_table;

// The sampler thread: started with the first lane or the program's second thread (a program with one thread keeps to it),
// blocks all signals, wakes every period_ms, and stretches its periods so that its CPU time stays under 0.2 %, and what
// probes have as an own_share.
struct sampler_options {
  std::uint32_t period_ms = 10;
  const char* probes = nullptr;  // comma list; nullptr: the defaults. "+NAME" adds to the defaults, "none"
  // Called at each tick, on the sampler thread (session has it look after steering); nullptr: nobody.
  void (*ticked)() noexcept = nullptr;
};
// configure is called while the library loads, before any lane opens. None of these throws or allocates.
void sampler_configure(const sampler_options& options) noexcept;
void sampler_lane_opened(recorder& to, lane& opened) noexcept;  // starts the thread when it is the first
void sampler_lane_closed(recorder& to, lane& opened) noexcept;
void sampler_thread_made(recorder& to) noexcept;  // the program has made one: starts the sampler's if there is none yet
// Last samples at orderly exit; the thread does nothing more. Waits for it at most 50 ms. Idempotent.
void sampler_stop(recorder& to) noexcept;
// The same samples without an end: before exec or _exit, which may fail or not be orderly. Waits as above.
void sampler_flush(recorder& to) noexcept;
// When no system calls may be made any more (base/system_calls.hpp), so that nobody starts the thread meanwhile: ends it.
// False: it has not ended within two seconds.
bool sampler_end_thread() noexcept;
// When they may be made again.
void sampler_start_thread_again(recorder& to) noexcept;
void sampler_after_fork() noexcept;  // in the child: no thread

}  // namespace trimtab::observe

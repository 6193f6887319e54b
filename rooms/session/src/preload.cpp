// Wires a watched process together: runs when the library is loaded into it and when it ends in an orderly way.
// Whatever cannot be set up leaves the program as it would be without us.
#include <pthread.h>

#include <cstdio>

#include "memory_nodes.hpp"
#include "options.hpp"
#include "preload_children.hpp"
#include "steering.hpp"
#include "trimtab/base/own_heap.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/observe/plain_threads.hpp"
#include "trimtab/observe/probe.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/openmp/openmp.hpp"
#include "trimtab/options/environment.hpp"

namespace trimtab::session {

namespace {

// With --no-follow the environment becomes again what the user had: no child is watched.
void forget_in_environment() noexcept {
  for (const auto& option_row : library_table()) options::forget(option_row);
  options::forget_first_preload();
}

void lane_opened(observe::recorder& owner, observe::lane& opened) noexcept {
  observe::sampler_lane_opened(owner, opened);
  steering_lane_opened();
}

void child_after_fork() noexcept {
  base::own_heap::after_fork();
  steering_after_fork();
  observe::plain_threads::after_fork();
  observe::sampler_after_fork();
  observe::the_recorder.after_fork();
  openmp::after_fork();
}

[[gnu::constructor]] void attach() noexcept {
  library_options chosen = read_options(options::value_of);
  const bool is_wanted = chosen.recorder.run_directory != nullptr && chosen.recorder.level != observe::record_level::off;
  // Where nothing is to be recorded no system call is made, either: the program may be under a filter (preload_seccomp.cpp).
  if (is_wanted) {
    base::keep_allowed_cpus();
    if (chosen.is_interleaved) interleave_memory();
    if (chosen.steering.is_on()) chosen.sampler.ticked = steering_ticked;
    observe::sampler_configure(chosen.sampler);
    chosen.recorder.is_listed = true;
    chosen.recorder.lane_opened = lane_opened;
    chosen.recorder.lane_closed = observe::sampler_lane_closed;
    if (observe::the_recorder.open(chosen.recorder) == 0) {
      pthread_atfork(nullptr, nullptr, [] { child_after_fork(); });
      if (chosen.wrong.of != nullptr) {
        char text[256];
        std::snprintf(text, sizeof text, "the value '%.100s' is not understood; the default is used", chosen.wrong.text);
        observe::the_recorder.unavailable(chosen.wrong.of->variable, text, "see trimtab run --help");
      }
      if (chosen.recorder.level >= observe::record_level::profile) steering_configure(chosen.steering);
      openmp::attach(chosen.is_other_ompt_tool ? openmp::ompt_use::leave_to_others : openmp::ompt_use::take_part);
    }
  }
  if (!chosen.is_follow) forget_in_environment();
  keep_for_children(chosen.users_values);
}

[[gnu::destructor]] void detach() noexcept {
  if (!observe::the_recorder.is_on()) return;
  steering_stop();
  openmp::detach();
  observe::sampler_stop(observe::the_recorder);
  observe::the_recorder.close(observe::process_state::exited);
}

}  // namespace

}  // namespace trimtab::session

#include "steering.hpp"

#include <limits.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "steering_parts.hpp"
#include "trimtab/base/periodic_thread.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/base/signals_held.hpp"
#include "trimtab/base/spin_lock.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

constexpr double longest_stop_s = 0.1;
constexpr double longest_end_s = 2;

// Never destroyed: the thread may still be in a policy when the program ends.
struct steering_state {
  steering_parts* all = nullptr;
  std::atomic<bool> is_started{false};
  bool is_stopped = false;
  base::periodic_thread thread;
};
std::atomic<steering_state*> state{nullptr};

// What the first lane begins.
struct awaited_steering {
  steering_options chosen;
  std::atomic<bool> is_awaited{false};
  std::atomic<bool> is_too_late{false};  // the process ends
  base::spin_lock lock;                  // of who begins; others that open a lane meanwhile wait for it
};
constinit awaited_steering awaited;
// Its paths, copied: they came from the environment, which is the program's to change.
constinit char settings_path[PATH_MAX], policy_path[PATH_MAX];

bool start_thread(steering_state& of) {
  steering_parts* const all = of.all;
  return of.thread.start("trimtab-steer", {[all] { return all->period_s(); }, [all](bool is_last) { all->advance(is_last); },
                                           [all](const char* feature) {
                                             all->restore();
                                             the_recorder.unavailable(
                                                 "tuning", feature, "the program goes on with what was accepted until then");
                                           }});
}

// "" where it cannot be read; that is told.
std::string read_file(const char* path, const char* feature, const char* remedy) {
  std::string text;
  const int error = base::read_whole_file(path, text);
  if (error != 0) the_recorder.unavailable(feature, (std::string(path) + ": " + std::strerror(error)).c_str(), remedy);
  return error == 0 ? text : std::string();
}

std::vector<steer::setting> read_settings(const char* path) {
  if (path == nullptr) return {};
  constexpr auto feature = "what earlier runs found", remedy = "trimtab history list";
  const std::string text = read_file(path, feature, remedy);
  if (text.empty()) return {};
  steer::parsed_settings read = steer::settings_from_text(text);
  if (!read.error.empty()) the_recorder.unavailable(feature, (std::string(path) + ": " + read.error).c_str(), remedy);
  return std::move(read.settings);
}

// False: too long.
bool keep_path(const char*& path, char (&copy)[PATH_MAX]) noexcept {
  if (path == nullptr) return true;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof copy) return false;
  std::memcpy(copy, path, length + 1);
  path = copy;
  return true;
}

// What is asked for before there is a lane must be there from the start: the program may ask how many threads it has, and a
// region that runs on virtual threads is another call.
bool is_needed_at_once(const steering_options& chosen) noexcept {
  return chosen.threads != thread_policy::off || chosen.virtual_threads != nullptr;
}

void report_failure(const char* reason) noexcept {
  the_recorder.unavailable("tuning", reason, "the program runs as it would without");
}

// Changes nothing in the program yet. nullptr: it failed, and the run says why.
steering_state* set_up(const steering_options& chosen) noexcept {
  try {
    auto fresh = std::make_unique<steering_state>();
    fresh->all = new steering_parts(chosen, read_settings(chosen.settings));
    // Before hooks follow it: a child that is forked meanwhile finds all that it has to end.
    state.store(fresh.get(), std::memory_order_release);
    return fresh.release();
  } catch (const std::exception& error) {
    report_failure(error.what());
    return nullptr;
  }
}

bool turn_on(steering_state& of) noexcept {
  try {
    of.all->turn_on();
    return true;
  } catch (const std::exception& error) {
    report_failure(error.what());
    of.all->turn_off();
    state.store(nullptr, std::memory_order_relaxed);
    return false;
  }
}

void begin(steering_state& of) noexcept {
  try {
    of.all->begin_in(the_recorder.directory());
  } catch (const std::exception& error) {
    report_failure(error.what());
    return;
  }
  if (!turn_on(of) || awaited.is_too_late.load(std::memory_order_relaxed)) return;
  of.is_started.store(true, std::memory_order_relaxed);
  bool has_started = false;
  try {
    has_started = start_thread(of);
  } catch (const std::bad_alloc&) {
    has_started = false;
  }
  if (has_started) return;
  of.is_stopped = true;
  the_recorder.unavailable("tuning", "no further thread could be made", "raise the limit on processes (ulimit -u)");
}

}  // namespace

void steering_configure(const steering_options& chosen) noexcept {
  if (!chosen.is_on()) return;
  awaited.chosen = chosen;
  const bool is_kept =
      keep_path(awaited.chosen.settings, settings_path) && keep_path(awaited.chosen.policy_file, policy_path);
  if (is_needed_at_once(chosen) || !is_kept) {
    steering_state* const fresh = set_up(chosen);
    if (fresh == nullptr || !turn_on(*fresh)) return;
  }
  awaited.is_awaited.store(true, std::memory_order_release);
}

// A team that the thread forks next is steered as a whole: so nobody goes on before it has begun.
void steering_lane_opened() noexcept {
  if (!awaited.is_awaited.load(std::memory_order_acquire)) return;
  const base::signals_held held;  // a handler that jumps away must not leave it half done
  const std::lock_guard guard(awaited.lock);
  if (!awaited.is_awaited.load(std::memory_order_relaxed)) return;
  steering_state* const prepared = state.load(std::memory_order_relaxed);
  steering_state* const fresh = prepared != nullptr ? prepared : set_up(awaited.chosen);
  if (fresh != nullptr) begin(*fresh);
  awaited.is_awaited.store(false, std::memory_order_release);
}

void steering_ticked() noexcept {
  steering_state* const current = state.load(std::memory_order_acquire);
  if (current == nullptr) return;
  try {
    current->all->tick();
    const std::string overdue = current->all->end_overdue_policy();
    if (!overdue.empty())
      the_recorder.unavailable(("policy " + overdue).c_str(), "it has been busy for longer than a second",
                               "tuning has ended; what was accepted until then stays");
  } catch (const std::exception&) {
    return;  // no memory for the message
  }
}

namespace {
bool stop_within(double patience_s) noexcept {
  steering_state* const current = state.load(std::memory_order_acquire);
  if (current == nullptr || !current->is_started || current->is_stopped) return true;
  current->is_stopped = true;
  bool has_ended = false;
  try {
    has_ended = current->thread.end(patience_s);
    if (has_ended)
      current->all->write_end();
    else
      current->all->restore();
  } catch (const std::exception&) {
    current->all->restore();
  }
  return has_ended;
}
}  // namespace

void steering_stop() noexcept {
  awaited.is_too_late.store(true, std::memory_order_relaxed);
  stop_within(longest_stop_s);
}

bool steering_end_thread() noexcept { return stop_within(longest_end_s); }

void steering_after_fork() noexcept {
  awaited.is_awaited.store(false, std::memory_order_relaxed);
  awaited.lock.reset();
  steering_state* const parents = state.exchange(nullptr, std::memory_order_relaxed);
  if (parents != nullptr) parents->all->turn_off();
}

}  // namespace trimtab::session

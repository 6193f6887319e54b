#include "steering_threads.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "trimtab/base/signals_held.hpp"

namespace trimtab::session {

namespace {

using seconds = std::chrono::duration<double>;

// Of the calling thread alone: a policy is not slow because others have the CPU.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

struct steering_threads::state {
  state(const options& how, callbacks calls)
      : given(how),
        call(std::move(calls)),
        steering(how.engine),
        conducts(
            steering, knobs, [this] { return watched_s(); },
            [this](const steer::decision& made, bool is_applied) { tell(made, is_applied); }) {}

  // Counted by the watcher as it wakes: while the whole process is stopped, no time passes.
  double watched_s() const { return static_cast<double>(wakings.load()) * given.patience_s / wakings_of_patience; }
  void tell(const steer::decision& made, bool is_applied) {
    const std::lock_guard guard(calling);
    if (!is_left_behind && call.told) call.told(made, is_applied);
  }

  static constexpr int wakings_of_patience = 4;
  const options given;
  callbacks call;
  steer::engine steering;
  steer::board knobs;
  steer::conductor conducts;
  std::atomic<std::uint64_t> wakings{0};

  std::mutex lock;
  std::condition_variable changed;
  bool is_ending = false, has_advanced_last = false, is_watched = true;
  std::string given_up;

  std::mutex calling;  // of callbacks
  bool is_left_behind = false;
  std::thread advances, looks_after;
};

steering_threads::steering_threads(const options& how, std::vector<std::unique_ptr<steer::policy>> policies,
                                   callbacks calls) {
  options with_clock = how;
  if (!with_clock.engine.clock) with_clock.engine.clock = cpu_seconds;
  m_state = std::make_shared<state>(with_clock, std::move(calls));
  for (auto& each : policies) m_state->steering.add(std::move(each));
  const base::signals_held held;  // the program's signals are not for these threads
  m_state->looks_after = std::thread([of = m_state] { look_after(of); });
  try {
    m_state->advances = std::thread([of = m_state] { advance(of); });
  } catch (...) {
    m_state->has_advanced_last = true;
    end();
    throw;
  }
  pthread_setname_np(m_state->advances.native_handle(), "trimtab-steer");
  pthread_setname_np(m_state->looks_after.native_handle(), "trimtab-watch");
}

steering_threads::~steering_threads() { end(); }

void steering_threads::end() {
  if (std::exchange(m_is_over, true)) return;
  state& of = *m_state;
  {
    std::unique_lock guard(of.lock);
    of.is_ending = true;
    of.changed.notify_all();
    // The watcher goes on until then, so that this ends even if a policy does not.
    of.changed.wait(guard, [&] { return of.has_advanced_last || of.conducts.is_given_up(); });
    of.is_watched = false;
    of.changed.notify_all();
  }
  of.looks_after.join();
  if (of.conducts.is_given_up()) {
    {
      const std::lock_guard guard(of.calling);
      of.is_left_behind = true;
    }
    if (of.advances.joinable()) of.advances.detach();
  } else if (of.advances.joinable()) {
    of.advances.join();
  }
}

void steering_threads::advance(const std::shared_ptr<state>& of) {
  const auto begin = std::chrono::steady_clock::now();
  for (bool is_last = false; !is_last;) {
    {
      std::unique_lock guard(of->lock);
      of->changed.wait_for(guard, seconds(of->given.period_s), [&] { return of->is_ending; });
      is_last = of->is_ending;
    }
    steer::snapshot now;
    now.time_s = seconds(std::chrono::steady_clock::now() - begin).count();
    now.is_last = is_last;
    try {
      {
        const std::lock_guard guard(of->calling);
        if (of->is_left_behind) return;
        of->call.look(now, of->knobs);
      }
      of->conducts.advance(std::move(now));
    } catch (...) {
      // No memory, or a listener that throws: not the program's concern.
      of->knobs.restore();
      const std::lock_guard guard(of->lock);
      of->given_up = "steering";
      break;
    }
  }
  const std::lock_guard guard(of->lock);
  of->has_advanced_last = true;
  of->changed.notify_all();
}

void steering_threads::look_after(const std::shared_ptr<state>& of) {
  std::unique_lock guard(of->lock);
  while (of->is_watched) {
    of->changed.wait_for(guard, seconds(of->given.patience_s / state::wakings_of_patience), [&] { return !of->is_watched; });
    of->wakings.fetch_add(1);
    guard.unlock();
    const std::string which = of->conducts.look_after(of->given.patience_s);
    guard.lock();
    if (which.empty()) continue;
    of->given_up = which;
    of->changed.notify_all();
  }
}

const steer::engine& steering_threads::engine() const noexcept { return m_state->steering; }

std::string steering_threads::given_up() const {
  const std::lock_guard guard(m_state->lock);
  return m_state->given_up;
}

}  // namespace trimtab::session

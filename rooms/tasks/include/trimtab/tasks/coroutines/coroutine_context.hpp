// What the coroutines of one task have in common where they have anything: a name, a stop token, or their place in a
// recorded run. Called coroutines share that of their caller; so do forks, unless each is recorded by itself. It hangs where
// other tasks have their kind of work, so that what runs on a stack is known by it: nothing more is kept while nothing is
// recorded.
#pragma once

#include <cstdint>
#include <stop_token>
#include <typeinfo>
#include <utility>

#include "trimtab/base/clock.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/worker.hpp"

namespace trimtab::tasks::detail {

class coroutine_promise;

// Belongs to the promise of the coroutine that was spawned or forked. What changes in it is the owner's, or of a task that
// is recorded, which shares it with nobody that runs at the same time.
class coroutine_context final : public task_kind {
 public:
  coroutine_context(const coroutine_promise& promise, const task_kind* named, std::uint32_t recorded) noexcept
      : task_kind(named != nullptr ? *named : task_kind{}), m_owner(&promise), m_subject(recorded) {
    type = &typeid(coroutine_context);
  }

  // nullptr: a kind of work of another sort.
  static coroutine_context* cast(const task_kind* kind) noexcept {
    if (kind == nullptr || kind->type != &typeid(coroutine_context)) return nullptr;
    return const_cast<coroutine_context*>(static_cast<const coroutine_context*>(kind));
  }
  static coroutine_context* running(worker& this_worker) noexcept { return cast(this_worker.running().kind_of_work); }

  bool belongs_to(const coroutine_promise& promise) const noexcept { return m_owner == &promise; }
  // By its owner, each time that it is run. True: for the first time.
  bool starts() noexcept { return !std::exchange(m_is_started, true); }
  std::uint64_t id() const noexcept { return m_id; }

  const std::stop_token* stop() const noexcept { return m_stop; }
  void stops_with(const coroutine_context* source) noexcept {
    if (source != nullptr) m_stop = source->m_stop;
  }
  void stops_with(std::stop_token token) noexcept {
    m_own_stop = std::move(token);
    m_stop = &m_own_stop;
  }

  // To the recorder. Of tasks that are not recorded: nothing.
  void record_created(recording::tally& counts) noexcept { m_id = recording::record_created(m_subject, counts); }
  // From here on it is what runs at this worker, for the first time or again.
  void enters(worker& this_worker) noexcept;
  // It is about to be set aside. awaited: the task that it waits for, if it is one.
  void leaves(worker& this_worker, recording::cause reason, std::uint64_t awaited = 0) noexcept;
  void ends() noexcept;
  void describe(running_task& running) const noexcept {
    running.kind_of_work = this;
    running.id = m_id;
    running.subject = m_subject;
  }
  // It waits for `child`, a fork with a context of its own.
  void waits_for(worker& this_worker, coroutine_context& child) noexcept {
    child.m_waiting = this;
    leaves(this_worker, recording::cause::children, child.m_id);
  }
  // Who has waited for this one goes on at this worker.
  void resume_waiting(worker& this_worker) noexcept {
    if (coroutine_context* const context = std::exchange(m_waiting, nullptr)) context->enters(this_worker);
  }

 private:
  const coroutine_promise* m_owner;
  std::stop_token m_own_stop;
  const std::stop_token* m_stop = nullptr;
  coroutine_context* m_waiting = nullptr;  // used by that one only
  std::uint64_t m_id = 0;                  // in a trace
  std::uint32_t m_subject;                 // 0: not recorded
  bool m_is_started = false;
  bool m_has_begun = false;  // as told
  bool m_is_suspended = false;
  base::ticks m_phase_begin = 0;  // suspended; or running, if it is timed
  base::ticks m_active = 0;       // while it is timed, before it was suspended the last time
  bool m_is_timed = false;
  bool m_is_inclusive = false;
  // Where it is timed, and what had been counted there.
  worker* m_timed_at = nullptr;
  std::uint64_t m_foreign_runs = 0, m_suspensions = 0;
};

// For a fork that `this_worker` makes, while something is recorded or the forker has a context. code: where coroutines
// begin, by which they are known in reports.
void give_context(coroutine_promise& child, worker& this_worker, const void* code);
// For a coroutine that is spawned.
void give_context(coroutine_promise& child, const task_options& options, std::stop_token stop, const void* code);

// The code of a coroutine that has not begun: both GCC and clang have its address at the beginning of the frame.
inline const void* code_at(const void* frame) noexcept { return *static_cast<const void* const*>(frame); }

}  // namespace trimtab::tasks::detail

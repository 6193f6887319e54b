#include "trimtab/runtime/steering_threads.hpp"

#include <chrono>
#include <mutex>
#include <system_error>
#include <utility>

#include "trimtab/base/clock.hpp"

namespace trimtab::task_steering {

struct steering_threads::state {
  state(const options& requested_options, callbacks calls)
      : given(requested_options),
        call(std::move(calls)),
        steering(requested_options.engine),
        conducts(
            steering, *given.knobs, [this] { return watched_s(); },
            [this](const steer::decision& decision_made, bool is_applied) { tell(decision_made, is_applied); },
            [this](const steer::snapshot& latest_snapshot, steer::decision_number decided) {
              step(latest_snapshot, decided);
            }),
        begin(std::chrono::steady_clock::now()) {}

  // Counted by the watcher as it wakes: while the whole process is stopped, no time passes.
  double watched_s() const { return static_cast<double>(wakings.load()) * given.patience_s / wakings_of_patience; }
  void tell(const steer::decision& decision_made, bool is_applied) {
    const std::lock_guard guard(calling);
    if (!is_left_behind && call.told) call.told(decision_made, is_applied);
  }
  void step(const steer::snapshot& latest_snapshot, steer::decision_number decided) {
    const std::lock_guard guard(calling);
    if (!is_left_behind && call.stepped) call.stepped(latest_snapshot, decided);
  }

  void advance(bool is_last) {
    steer::snapshot now;
    now.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    now.is_last = is_last;
    {
      const std::lock_guard guard(calling);
      if (is_left_behind) return;
      call.look(now);
    }
    conducts.advance(std::move(now));
  }
  // No memory, or a listener that throws: not the program's concern.
  void fail() {
    given.knobs->restore();
    give_up("steering");
  }
  void look_after() {
    wakings.fetch_add(1);
    if (const std::string overdue = conducts.look_after(given.patience_s); !overdue.empty()) give_up(overdue);
  }
  void give_up(const std::string& overdue) {
    const std::lock_guard guard(lock);
    given_up = overdue;
  }

  static constexpr int wakings_of_patience = 4;
  const options given;
  callbacks call;
  steer::engine steering;
  steer::conductor conducts;
  const std::chrono::steady_clock::time_point begin;
  std::atomic<std::uint64_t> wakings{0};

  mutable std::mutex lock;  // of the following
  std::string given_up;

  std::mutex calling;  // of callbacks
  bool is_left_behind = false;
};

steering_threads::steering_threads(const options& requested_options, std::vector<std::unique_ptr<steer::policy>> policies,
                                   callbacks calls) {
  options with_clock = requested_options;
  if (!with_clock.engine.clock) with_clock.engine.clock = base::thread_seconds;
  m_state = std::make_shared<state>(with_clock, std::move(calls));
  for (auto& policy : policies) m_state->steering.add(std::move(policy));
  const auto start = [](base::periodic_thread& thread, const char* name, base::periodic_thread::work task) {
    if (!thread.start(name, std::move(task))) throw std::system_error(EAGAIN, std::generic_category(), name);
  };
  const std::shared_ptr<state>& shared_state = m_state;
  start(m_looks_after, "trimtab-watch",
        {[shared_state] { return shared_state->given.patience_s / state::wakings_of_patience; },
         [shared_state](bool) { shared_state->look_after(); },
         [shared_state](const char*) { shared_state->give_up("steering"); }});
  start(
      m_advances, "trimtab-steer",
      {[shared_state] { return shared_state->call.period_s ? shared_state->call.period_s() : shared_state->given.period_s; },
       [shared_state](bool is_last) { shared_state->advance(is_last); },
       [shared_state](const char*) { shared_state->fail(); }});
}

steering_threads::~steering_threads() { end(); }

void steering_threads::end() {
  if (std::exchange(m_is_over, true)) return;
  constexpr double look_s = 0.01;
  // The watcher goes on until then, so that this ends even if a policy does not.
  while (!m_advances.end(look_s) && !m_state->conducts.is_given_up()) {
  }
  while (!m_looks_after.end(m_state->given.patience_s)) {
  }
  if (!m_state->conducts.is_given_up()) return;
  const std::lock_guard guard(m_state->calling);
  m_state->is_left_behind = true;
}

const steer::engine& steering_threads::engine() const noexcept { return m_state->steering; }

std::string steering_threads::given_up() const {
  const std::lock_guard guard(m_state->lock);
  return m_state->given_up;
}

}  // namespace trimtab::task_steering

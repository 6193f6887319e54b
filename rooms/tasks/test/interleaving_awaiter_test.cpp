// Coroutines that wait with a stop token, in all interleavings of who sets them aside, who tells, who stops, and who
// resumes them.
#include <gtest/gtest.h>

#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#define TRIMTAB_INTERLEAVED trimtab_interleaved_awaiters
#include "interleaved.hpp"

#define trimtab trimtab_interleaved_awaiters
#define TRIMTAB_ASK_CURRENT
#include "../src/permits.cpp"
#include "../src/wait_queue.cpp"
#include "../src/waiting.cpp"
#include "interleaved_tasks.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"

namespace trimtab::tasks {
namespace {
std::deque<std::coroutine_handle<>> are_ready;
}  // namespace

// A coroutine that is told goes on where `resumes` runs.
namespace detail {
namespace {
struct resumption final : task {
  std::coroutine_handle<> handle;
};
}  // namespace
task& make_resumption(std::coroutine_handle<> coroutine) {
  auto& handle_task = *new resumption;
  handle_task.handle = coroutine;
  return handle_task;
}
void drop_resumption(task& created) noexcept { delete &static_cast<resumption&>(created); }
runtime& begin_wait(task&) {
  alignas(64) static char any;
  return reinterpret_cast<runtime&>(any);
}
void undo_wait(task&) noexcept {}
void end_wait(task& waiting_task, runtime&) noexcept {
  are_ready.push_back(static_cast<resumption&>(waiting_task).handle);
  drop_resumption(waiting_task);
}
void coroutine_stays(task&) noexcept {}
void coroutine_is_told(const task&, recording::cause) noexcept {}
}  // namespace detail

namespace {

struct coroutine {
  struct promise_type {
    coroutine get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

struct model {
  model() { are_ready.clear(); }
  std::stop_source stop;
  counting_semaphore<> permits{0};
  latch opens{1};
  barrier<> meeting{2};
  detail::permits no_permits{0};
  bool has_ended = false, is_notified = false;
  std::string verdict() const { return has_ended ? "" : "it did not go on"; }
};

// Until the coroutine is over.
void resumes(const model& run) {
  for (int looks = 0; !run.has_ended; ++looks) {
    if (looks > 10'000) return machine::current()->fail("it did not go on");
    if (are_ready.empty()) {
      machine::current()->yield();
      continue;
    }
    const std::coroutine_handle<> next = are_ready.front();
    are_ready.pop_front();
    next.resume();
  }
}

coroutine takes_a_permit(model& run) {
  run.is_notified = co_await run.permits.acquire_async(run.stop.get_token());
  run.has_ended = true;
}
coroutine waits_for_a_latch(model& run) {
  run.is_notified = co_await run.opens.wait_async(run.stop.get_token());
  run.has_ended = true;
}
coroutine waits_at_a_barrier(model& run) {
  run.is_notified = co_await run.meeting.arrive_and_wait_async(run.stop.get_token());
  run.has_ended = true;
}

template <class beginning, class telling>
std::string wrong_with(beginning begin, telling notification) {
  return tried<model>(
      [=](model& run) -> bodies {
        return {[&run, begin] { begin(run); }, [&run, notification] { notification(run); },
                [&run] { run.stop.request_stop(); }, [&run] { resumes(run); }};
      },
      false);
}

class interleaved_awaiters : public interleaved {};

TEST_F(interleaved_awaiters, go_on_once_whoever_comes_first) {
  EXPECT_EQ(wrong_with(takes_a_permit, [](model& run) { run.permits.release(); }), "");
  EXPECT_EQ(wrong_with(waits_for_a_latch, [](model& run) { run.opens.count_down(); }), "");
  EXPECT_EQ(wrong_with(waits_at_a_barrier, [](model& run) { static_cast<void>(run.meeting.arrive()); }), "");
}

TEST_F(interleaved_awaiters, are_stopped_where_nobody_tells) {
  const auto no_operation = [](model&) {};
  EXPECT_EQ(wrong_with(takes_a_permit, no_operation), "");
  EXPECT_EQ(wrong_with(waits_for_a_latch, no_operation), "");
  EXPECT_EQ(wrong_with(waits_at_a_barrier, no_operation), "");
}

// Who is resumed by the first that comes may be gone while it is still being set aside.
class hasty_awaiter : public detail::resumer<> {
 public:
  explicit hasty_awaiter(model& run) : detail::resumer<>(recording::cause::semaphore), m_run(run) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> coroutine) {
    model& current = m_run;
    const bool waits = wait_if(coroutine, [&](waiter& self) { return current.no_permits.acquire_or_enlist(self); });
    machine::current()->point();
    if (waits && current.has_ended) machine::current()->fail("gone while it is set aside");
    return waits;
  }
  void await_resume() const noexcept {}

 private:
  model& m_run;
};

coroutine is_hasty(model& run) {
  co_await hasty_awaiter(run);
  run.has_ended = true;
}

TEST_F(interleaved_awaiters, what_is_touched_after_it_went_on_is_found_out) {
  EXPECT_NE(wrong_with(is_hasty, [](model& run) { run.no_permits.release(); }), "");
}

}  // namespace
}  // namespace trimtab::tasks

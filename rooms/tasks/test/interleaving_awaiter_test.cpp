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
  std::coroutine_handle<> of;
};
}  // namespace
task& make_resumption(std::coroutine_handle<> who) {
  auto& made = *new resumption;
  made.of = who;
  return made;
}
void drop_resumption(task& made) noexcept { delete &static_cast<resumption&>(made); }
runtime& begin_wait(task&) {
  alignas(64) static char any;
  return reinterpret_cast<runtime&>(any);
}
void undo_wait(task&) noexcept {}
void end_wait(task& by, runtime&) noexcept {
  are_ready.push_back(static_cast<resumption&>(by).of);
  drop_resumption(by);
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
  barrier<> all{2};
  detail::permits taken{0};
  bool is_over = false, is_told = false;
  std::string verdict() const { return is_over ? "" : "it did not go on"; }
};

// Until the coroutine is over.
void resumes(const model& now) {
  for (int looks = 0; !now.is_over; ++looks) {
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

coroutine takes_a_permit(model& now) {
  now.is_told = co_await now.permits.acquire_async(now.stop.get_token());
  now.is_over = true;
}
coroutine waits_for_a_latch(model& now) {
  now.is_told = co_await now.opens.wait_async(now.stop.get_token());
  now.is_over = true;
}
coroutine waits_at_a_barrier(model& now) {
  now.is_told = co_await now.all.arrive_and_wait_async(now.stop.get_token());
  now.is_over = true;
}

template <class beginning, class telling>
std::string wrong_with(beginning begin, telling tell) {
  return tried<model>(
      [=](model& now) -> bodies {
        return {[&now, begin] { begin(now); }, [&now, tell] { tell(now); }, [&now] { now.stop.request_stop(); },
                [&now] { resumes(now); }};
      },
      false);
}

class interleaved_awaiters : public interleaved {};

TEST_F(interleaved_awaiters, go_on_once_whoever_comes_first) {
  EXPECT_EQ(wrong_with(takes_a_permit, [](model& now) { now.permits.release(); }), "");
  EXPECT_EQ(wrong_with(waits_for_a_latch, [](model& now) { now.opens.count_down(); }), "");
  EXPECT_EQ(wrong_with(waits_at_a_barrier, [](model& now) { static_cast<void>(now.all.arrive()); }), "");
}

TEST_F(interleaved_awaiters, are_stopped_where_nobody_tells) {
  const auto nothing = [](model&) {};
  EXPECT_EQ(wrong_with(takes_a_permit, nothing), "");
  EXPECT_EQ(wrong_with(waits_for_a_latch, nothing), "");
  EXPECT_EQ(wrong_with(waits_at_a_barrier, nothing), "");
}

// Who is resumed by the first that comes may be gone while it is still being set aside.
class hasty_awaiter : public detail::resumer<> {
 public:
  explicit hasty_awaiter(model& now) : detail::resumer<>(recording::cause::semaphore), m_now(now) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> who) {
    model& now = m_now;
    const bool waits = wait_if(who, [&](waiter& self) { return now.taken.take_or_enlist(self); });
    machine::current()->point();
    if (waits && now.is_over) machine::current()->fail("gone while it is set aside");
    return waits;
  }
  void await_resume() const noexcept {}

 private:
  model& m_now;
};

coroutine is_hasty(model& now) {
  co_await hasty_awaiter(now);
  now.is_over = true;
}

TEST_F(interleaved_awaiters, what_is_touched_after_it_went_on_is_found_out) {
  EXPECT_NE(wrong_with(is_hasty, [](model& now) { now.taken.give(); }), "");
}

}  // namespace
}  // namespace trimtab::tasks

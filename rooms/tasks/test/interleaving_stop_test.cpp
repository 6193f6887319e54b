// Waits that a stop token ends, in all interleavings of who tells, who stops and who waits.
#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#define TRIMTAB_INTERLEAVED trimtab_interleaved_stops
#include "interleaved.hpp"

#define trimtab trimtab_interleaved_stops
#define TRIMTAB_ASK_CURRENT
#include "../src/condition_variable.cpp"
#include "../src/permits.cpp"
#include "../src/wait_queue.cpp"
#include "../src/waiting.cpp"
#include "interleaved_tasks.hpp"
#include "trimtab/tasks/sync/barrier.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/latch.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"

namespace trimtab::tasks {
namespace {

class interleaved_stops : public interleaved {};

struct semaphore_model {
  std::stop_source stop;
  counting_semaphore<> permits{0};
  int ends = 0;
  // Whoever had the one permit has given it back.
  std::string verdict() {
    if (ends != 2) return "not all went on";
    return permits.try_acquire() && !permits.try_acquire() ? "" : "a permit was lost or made";
  }
};

TEST_F(interleaved_stops, no_permit_is_lost) {
  expect_well<semaphore_model>([](semaphore_model& run) -> bodies {
    return {[&] {
              if (run.permits.try_acquire(run.stop.get_token())) run.permits.release();
              run.ends += 1;
            },
            [&] {
              run.permits.acquire();
              run.permits.release();
              run.ends += 1;
            },
            [&] { run.permits.release(); }, [&] { run.stop.request_stop(); }};
  });
}

struct latch_model {
  std::stop_source stop;
  latch opens{1};
  bool is_stopped = false, is_notified = false;
  std::string verdict() { return is_notified ? "" : "not all went on"; }
};

TEST_F(interleaved_stops, others_that_wait_for_the_same_are_told) {
  expect_well<latch_model>([](latch_model& run) -> bodies {
    return {[&] { run.is_stopped = !run.opens.wait(run.stop.get_token()); },
            [&] {
              run.opens.wait();
              run.is_notified = true;
            },
            [&] { run.opens.count_down(); }, [&] { run.stop.request_stop(); }};
  });
}

struct barrier_model {
  void step() { steps += 1; }
  std::stop_source stop;
  int steps = 0, ends = 0;
  bool has_passed = false;
  struct counts {
    barrier_model* model;
    void operator()() const noexcept { model->step(); }
  };
  barrier<counts> meeting{2, counts{this}};
  // Who gave up and dropped out has not arrived as well: of those that are left, each is waited for in the next phase.
  std::string verdict() {
    if (ends != 2 || steps != 1) return "not all went on";
    meeting.arrive_and_drop();
    if (has_passed && steps != 1) return "opened for one of two";
    if (has_passed) meeting.arrive_and_drop();
    return steps == 2 ? "" : "an arrival was lost or made";
  }
};

TEST_F(interleaved_stops, who_gives_up_at_a_barrier_has_not_arrived) {
  expect_well<barrier_model>([](barrier_model& run) -> bodies {
    return {[&] {
              run.has_passed = run.meeting.arrive_and_wait(run.stop.get_token());
              if (!run.has_passed) run.meeting.arrive_and_drop();
              run.ends += 1;
            },
            [&] {
              run.meeting.arrive_and_wait();
              run.ends += 1;
            },
            [&] { run.stop.request_stop(); }};
  });
}

struct condition_model {
  std::stop_source stop;
  base::spin_lock lock;
  condition_variable changed;
  bool is_set = false;
  int ends = 0;
  std::string verdict() { return ends == 2 ? "" : "not all went on"; }
};

TEST_F(interleaved_stops, a_condition_is_met_or_stop_was_requested) {
  expect_well<condition_model>([](condition_model& run) -> bodies {
    return {[&] {
              run.lock.lock();
              const bool is_met = run.changed.wait(run.lock, run.stop.get_token(), [&] { return run.is_set; });
              if (is_met != run.is_set) machine::current()->fail("told wrong");
              if (!is_met && !run.stop.stop_requested()) machine::current()->fail("ended for no reason");
              run.lock.unlock();
              run.ends += 1;
            },
            [&] {
              run.lock.lock();
              run.changed.wait(run.lock, [&] { return run.is_set; });
              run.lock.unlock();
              run.ends += 1;
            },
            [&] {
              run.lock.lock();
              run.is_set = true;
              run.lock.unlock();
              run.changed.notify_all();
            },
            [&] { run.stop.request_stop(); }};
  });
}

struct channel_model {
  std::stop_source stop;
  channel<int> line{1};
  std::optional<int> received;
  bool is_sent = false;
  std::string verdict() {
    const std::optional<int> left = line.try_receive();
    if (!is_sent) return "not sent";
    return received.has_value() != left.has_value() ? "" : "a value was lost or came twice";
  }
};

TEST_F(interleaved_stops, no_value_is_lost) {
  expect_well<channel_model>([](channel_model& run) -> bodies {
    return {[&] { run.received = run.line.receive(run.stop.get_token()); }, [&] { run.is_sent = run.line.send(1); },
            [&] { run.stop.request_stop(); }};
  });
}

// Who looks for a stop before it waits, and not while, is found out.
TEST_F(interleaved_stops, a_stop_that_comes_late_is_not_lost) {
  EXPECT_NE((tried<latch_model>(
                [](latch_model& run) -> bodies {
                  return {[&] {
                            if (!run.stop.stop_requested()) run.opens.wait();
                            run.is_notified = true;
                          },
                          [&] { run.stop.request_stop(); }};
                },
                true)),
            "");
  expect_well<latch_model>([](latch_model& run) -> bodies {
    return {[&] { run.is_notified = !run.opens.wait(run.stop.get_token()); }, [&] { run.stop.request_stop(); }};
  });
}

}  // namespace
}  // namespace trimtab::tasks

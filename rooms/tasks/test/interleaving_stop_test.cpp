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
  expect_well<semaphore_model>([](semaphore_model& now) -> bodies {
    return {[&] {
              if (now.permits.try_acquire(now.stop.get_token())) now.permits.release();
              now.ends += 1;
            },
            [&] {
              now.permits.acquire();
              now.permits.release();
              now.ends += 1;
            },
            [&] { now.permits.release(); }, [&] { now.stop.request_stop(); }};
  });
}

struct latch_model {
  std::stop_source stop;
  latch opens{1};
  bool is_stopped = false, is_told = false;
  std::string verdict() { return is_told ? "" : "not all went on"; }
};

TEST_F(interleaved_stops, others_that_wait_for_the_same_are_told) {
  expect_well<latch_model>([](latch_model& now) -> bodies {
    return {[&] { now.is_stopped = !now.opens.wait(now.stop.get_token()); },
            [&] {
              now.opens.wait();
              now.is_told = true;
            },
            [&] { now.opens.count_down(); }, [&] { now.stop.request_stop(); }};
  });
}

struct barrier_model {
  void step() { steps += 1; }
  std::stop_source stop;
  int steps = 0, ends = 0;
  bool is_through = false;
  struct counts {
    barrier_model* in;
    void operator()() const noexcept { in->step(); }
  };
  barrier<counts> all{2, counts{this}};
  // Who gave up and dropped out has not arrived as well: of those that are left, each is waited for in the next phase.
  std::string verdict() {
    if (ends != 2 || steps != 1) return "not all went on";
    all.arrive_and_drop();
    if (is_through && steps != 1) return "opened for one of two";
    if (is_through) all.arrive_and_drop();
    return steps == 2 ? "" : "an arrival was lost or made";
  }
};

TEST_F(interleaved_stops, who_gives_up_at_a_barrier_has_not_arrived) {
  expect_well<barrier_model>([](barrier_model& now) -> bodies {
    return {[&] {
              now.is_through = now.all.arrive_and_wait(now.stop.get_token());
              if (!now.is_through) now.all.arrive_and_drop();
              now.ends += 1;
            },
            [&] {
              now.all.arrive_and_wait();
              now.ends += 1;
            },
            [&] { now.stop.request_stop(); }};
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
  expect_well<condition_model>([](condition_model& now) -> bodies {
    return {[&] {
              now.lock.lock();
              const bool is_met = now.changed.wait(now.lock, now.stop.get_token(), [&] { return now.is_set; });
              if (is_met != now.is_set) machine::current()->fail("told wrong");
              if (!is_met && !now.stop.stop_requested()) machine::current()->fail("ended for no reason");
              now.lock.unlock();
              now.ends += 1;
            },
            [&] {
              now.lock.lock();
              now.changed.wait(now.lock, [&] { return now.is_set; });
              now.lock.unlock();
              now.ends += 1;
            },
            [&] {
              now.lock.lock();
              now.is_set = true;
              now.lock.unlock();
              now.changed.notify_all();
            },
            [&] { now.stop.request_stop(); }};
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
  expect_well<channel_model>([](channel_model& now) -> bodies {
    return {[&] { now.received = now.line.receive(now.stop.get_token()); }, [&] { now.is_sent = now.line.send(1); },
            [&] { now.stop.request_stop(); }};
  });
}

// Who looks for a stop before it waits, and not while, is found out.
TEST_F(interleaved_stops, a_stop_that_comes_late_is_not_lost) {
  EXPECT_NE((tried<latch_model>(
                [](latch_model& now) -> bodies {
                  return {[&] {
                            if (!now.stop.stop_requested()) now.opens.wait();
                            now.is_told = true;
                          },
                          [&] { now.stop.request_stop(); }};
                },
                true)),
            "");
  expect_well<latch_model>([](latch_model& now) -> bodies {
    return {[&] { now.is_told = !now.opens.wait(now.stop.get_token()); }, [&] { now.stop.request_stop(); }};
  });
}

}  // namespace
}  // namespace trimtab::tasks

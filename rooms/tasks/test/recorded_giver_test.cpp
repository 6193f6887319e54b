// What is recorded of who lets a waiting task go on: the task that unlocked or sent, or a thread outside of the runtime.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "own_recorder.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/spawn.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/futures/future.hpp"
#include "trimtab/tasks/sync/channel.hpp"
#include "trimtab/tasks/sync/mutex.hpp"
#include "trimtab/tasks/sync/semaphore.hpp"

namespace trimtab::tasks {
namespace {
namespace givers {

struct recorded_edge {
  std::uint64_t before, after;
  std::uint32_t cause;
  bool operator==(const recorded_edge&) const = default;
};
std::vector<recorded_edge> edges;
std::atomic<std::uint64_t> last_task{0};
std::atomic<std::uint32_t> suspensions{0};

trimtab_api& tracing_recorder() {
  static trimtab_api api = own_recorder();
  api.level = [] { return std::uint32_t{TRIMTAB_TRACE}; };
  api.task_made = [](std::uint32_t, std::uint64_t) { return ++last_task; };
  api.task_begin = api.task_end = [](std::uint32_t, std::uint64_t) {};
  api.task_suspended = [](std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t) { ++suspensions; };
  api.task_ready = [](std::uint32_t, std::uint64_t, std::uint64_t) {};
  api.task_edge = [](std::uint64_t before, std::uint64_t after, std::uint32_t cause) {
    const std::lock_guard guard(recorder_lock());
    edges.push_back({before, after, cause});
  };
  return api;
}

std::uint64_t own_number() { return worker::current()->running().id; }

// The edges of cause `wanted` are these.
std::string differ(std::uint32_t wanted, const std::vector<recorded_edge>& expected) {
  std::vector<recorded_edge> of_cause;
  for (const recorded_edge& entry : edges)
    if (entry.cause == wanted) of_cause.push_back(entry);
  if (of_cause == expected) return "";
  std::string text;
  for (const recorded_edge& entry : of_cause)
    text += std::to_string(entry.before) + " to " + std::to_string(entry.after) + ", ";
  return text + "which is not expected";
}

// On one worker: the second task suspends before the first one goes on behind its yield.
std::string wrong_of_tasks(std::uint32_t cause, const std::function<void()>& waits, const std::function<void()>& gives) {
  trimtab_attached_api = &tracing_recorder();
  std::uint64_t waiting = 0, giving = 0;
  runtime rt({.workers = 1});
  rt.run([&] {
    giving = own_number();
    auto later = async([&] {
      waiting = own_number();
      waits();
    });
    while (suspensions == 0 || waiting == 0) this_task::yield();
    gives();
    later.get();
  });
  return differ(cause, {{giving, waiting, cause}});
}

std::string wrong_of_mutex() {
  mutex shared;
  shared.lock();
  return wrong_of_tasks(TRIMTAB_CAUSE_MUTEX, [&] { shared.lock(); }, [&] { shared.unlock(); });
}

std::string wrong_of_semaphore() {
  counting_semaphore<> permits(0);
  return wrong_of_tasks(TRIMTAB_CAUSE_SEMAPHORE, [&] { permits.acquire(); }, [&] { permits.release(); });
}

std::string wrong_of_value() {
  channel<int> values(1);
  return wrong_of_tasks(TRIMTAB_CAUSE_CHANNEL, [&] { values.receive(); }, [&] { values.send(1); });
}

std::string wrong_of_room() {
  channel<int> values(1);
  return wrong_of_tasks(
      TRIMTAB_CAUSE_CHANNEL,
      [&] {
        values.send(1);
        values.send(2);
      },
      [&] { values.receive(); });
}

std::string wrong_of_outside() {
  trimtab_attached_api = &tracing_recorder();
  channel<int> values(1);
  std::atomic<std::uint64_t> waiting{0};
  runtime rt({.workers = 1});
  std::thread sender([&] {
    while (suspensions == 0) std::this_thread::yield();
    values.send(1);
  });
  rt.run([&] {
    waiting = own_number();
    values.receive();
  });
  sender.join();
  // Where the value came before the task had left its stack, it let itself go on.
  const std::uint64_t giver = edges.size() == 1 && edges[0].before == waiting ? waiting.load() : 0;
  return differ(TRIMTAB_CAUSE_CHANNEL, {{giver, waiting, TRIMTAB_CAUSE_CHANNEL}});
}

std::string wrong_of_timer() {
  trimtab_attached_api = &tracing_recorder();
  mutex shared;
  shared.lock();
  runtime rt({.workers = 1});
  rt.run([&] { shared.try_lock_for(std::chrono::milliseconds(1)); });
  return edges.empty() || edges[0].before != 0 ? "" : "an edge of a timer";
}

TEST(recorded_givers, of_a_mutex_are_who_unlocks) { expect_nothing_wrong(wrong_of_mutex); }
TEST(recorded_givers, of_a_semaphore_are_who_releases) { expect_nothing_wrong(wrong_of_semaphore); }
TEST(recorded_givers, of_a_value_are_who_sends) { expect_nothing_wrong(wrong_of_value); }
TEST(recorded_givers, of_room_in_a_channel_are_who_receives) { expect_nothing_wrong(wrong_of_room); }
TEST(recorded_givers, may_be_outside_of_all_tasks) { expect_nothing_wrong(wrong_of_outside); }
TEST(recorded_givers, are_no_timers) { expect_nothing_wrong(wrong_of_timer); }

}  // namespace givers
}  // namespace
}  // namespace trimtab::tasks

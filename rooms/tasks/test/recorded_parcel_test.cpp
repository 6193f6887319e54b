// What is recorded where a parcel of another locality lets tasks go on, or makes them ready.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "own_recorder.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::tasks {
namespace {

struct recorded_answer {
  std::uint64_t task, parcel;
  std::uint32_t from;
};
std::vector<recorded_answer> answers;
std::vector<std::pair<std::uint64_t, std::uint64_t>> ready_tasks;  // with who made them ready
std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
std::atomic<std::uint64_t> last_task{0}, suspended_task{0};
std::atomic<bool> is_waiting{false};

trimtab_api& tracing_recorder() {
  static trimtab_api api = own_recorder();
  api.level = [] { return std::uint32_t{TRIMTAB_TRACE}; };
  api.task_made = [](std::uint32_t, std::uint64_t) { return ++last_task; };
  api.task_begin = api.task_end = [](std::uint32_t, std::uint64_t) {};
  api.task_suspended = [](std::uint32_t, std::uint64_t task, std::uint32_t, std::uint64_t) { suspended_task = task; };
  // A task says that it suspends before its waiter is registered; its worker looks for other work only afterwards.
  api.worker_state = [](std::uint32_t) {
    if (suspended_task != 0) is_waiting = true;
  };
  api.task_ready = [](std::uint32_t, std::uint64_t task, std::uint64_t by) {
    const std::lock_guard guard(recorder_lock());
    ready_tasks.emplace_back(task, by);
  };
  api.task_edge = [](std::uint64_t before, std::uint64_t after, std::uint32_t) {
    const std::lock_guard guard(recorder_lock());
    edges.emplace_back(before, after);
  };
  api.parcel_sent = [](std::uint32_t, std::uint32_t) { return std::uint64_t{0}; };
  api.parcel_received = [](std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t) {};
  api.answer_received = [](std::uint64_t task, std::uint32_t from, std::uint64_t parcel) {
    const std::lock_guard guard(recorder_lock());
    answers.push_back({task, parcel, from});
  };
  return api;
}

// A task waits for a future, whose value the thread outside gives.
void give_to_waiting_task(const std::function<void(promise<int>&)>& give) {
  promise<int> value;
  future<int> later = value.get_future();
  suspended_task = 0;
  is_waiting = false;
  std::atomic<int> received{0};
  runtime rt({.workers = 1});
  std::thread giver([&] {
    while (!is_waiting) std::this_thread::yield();
    give(value);
  });
  rt.run([&] { received = later.get(); });
  giver.join();
  if (received != 7) answers.clear();
}

std::string wrong_of_waiting_task() {
  trimtab_attached_api = &tracing_recorder();
  give_to_waiting_task([](promise<int>& value) {
    const recording::handled_parcel parcel(3, 41);
    value.set_value(7);
  });
  if (answers.size() != 1) return "answers: " + std::to_string(answers.size());
  if (answers[0].task != suspended_task || answers[0].from != 3 || answers[0].parcel != 41) return "what it was";
  return edges.empty() ? "" : "an edge of no task";
}

std::string wrong_without_number() {
  trimtab_attached_api = &tracing_recorder();
  give_to_waiting_task([](promise<int>& value) {
    const recording::handled_parcel parcel(3, 0);
    value.set_value(7);
  });
  return answers.empty() ? "" : "an answer of a parcel without a number";
}

std::string wrong_of_ready_tasks() {
  trimtab_attached_api = &tracing_recorder();
  runtime rt({.workers = 1});
  {
    const recording::handled_parcel parcel(2, 5);
    // A task that receives while it sends is not the cause.
    recording::task_ready(1, 100, 99);
    recording::parcel_received(1, 101, 2, 5);
    recording::task_ready(1, 102, 101);
  }
  recording::task_ready(1, 103, 99);
  if (ready_tasks != decltype(ready_tasks){{100, 0}, {102, 101}, {103, 99}}) return "who made tasks ready";
  return answers.size() == 1 && answers[0].task == 100 ? "" : "answers: " + std::to_string(answers.size());
}

TEST(recorded_parcels, let_a_waiting_task_go_on) { expect_nothing_wrong(wrong_of_waiting_task); }
TEST(recorded_parcels, without_a_number_are_not_recorded) { expect_nothing_wrong(wrong_without_number); }
TEST(recorded_parcels, are_answers_until_they_have_become_tasks) { expect_nothing_wrong(wrong_of_ready_tasks); }

}  // namespace
}  // namespace trimtab::tasks

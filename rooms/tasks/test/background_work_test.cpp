#include "trimtab/tasks/core/background_work.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "on_policies.hpp"
#include "support.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks {

namespace {

// Brings the result of one promise when it has been asked often enough, by whoever asks.
class late_result : public background_work {
 public:
  explicit late_result(int looks_needed) : m_looks_left(looks_needed) {}

  bool advance() noexcept override {
    m_advances.fetch_add(1);
    if (m_looks_left.fetch_sub(1) != 1) return false;
    m_result.set_value(7);
    return true;
  }
  bool before_sleep() noexcept override {
    m_sleeps.fetch_add(1);
    return m_is_brought_late.exchange(false) ? advance_to_end() : false;
  }
  bool expects_more() const noexcept override { return m_is_more_expected.load(); }

  bool advance_to_end() noexcept {
    m_result.set_value(8);
    return true;
  }
  future<int> result() { return m_result.get_future(); }

  promise<int> m_result;
  std::atomic<int> m_looks_left;
  std::atomic<int> m_advances{0}, m_sleeps{0};
  std::atomic<bool> m_is_brought_late{false}, m_is_more_expected{false};
};

class background : public ::testing::TestWithParam<policy> {};

TEST_P(background, is_advanced_by_workers_without_a_task) {
  runtime rt({.workers = 2, .policy = GetParam()});
  const auto work = std::make_shared<late_result>(100);
  rt.set_background_work(work);
  EXPECT_EQ(rt.run([&] { return work->result().get(); }), 7);
  EXPECT_GE(work->m_advances.load(), 100);
}

TEST_P(background, is_asked_once_more_before_workers_sleep) {
  runtime rt({.workers = 1, .policy = GetParam()});
  const auto work = std::make_shared<late_result>(1 << 30);
  work->m_is_brought_late = true;
  rt.set_background_work(work);
  EXPECT_EQ(rt.run([&] { return work->result().get(); }), 8);
}

INSTANTIATE_TEST_SUITE_P(policies, background,
                         ::testing::Values(policy::local, policy::local_priority, policy::abp_priority, policy::hierarchy,
                                           policy::static_priority, policy::periodic_priority));

TEST(background_of_threads, advances_it_while_a_thread_that_is_no_worker_waits) {
  runtime rt({.workers = 1});
  // The worker does not look: it is busy.
  std::atomic<bool> is_over{false}, is_busy{false};
  auto busy = async([&] {
    is_busy = true;
    while (!is_over) continue;
  });
  while (!is_busy) continue;
  const auto work = std::make_shared<late_result>(10);
  rt.set_background_work(work);
  EXPECT_EQ(work->result().get(), 7);
  is_over = true;
  busy.get();
}

TEST(background_of_threads, is_forgotten_with_its_runtime) {
  {
    runtime rt({.workers = 1});
    rt.set_background_work(std::make_shared<late_result>(1));
  }
  runtime rt({.workers = 1});
  EXPECT_EQ(async([] { return 3; }).get(), 3);
}

TEST(background, that_expects_more_is_no_deadlock) {
  std::atomic<int> lines{0};
  const auto work = std::make_shared<late_result>(1 << 30);
  runtime rt({.workers = 1, .deadlock_ms = 1, .on_deadlock = [&](std::string_view) { lines += 1; }});
  work->m_is_more_expected = true;
  rt.set_background_work(work);
  auto waiting = async([&] { return work->result().get(); });
  // Several times what it takes until a deadlock would be reported: the worker asks each time that it wakes.
  const int sleeps = work->m_sleeps;
  while (work->m_sleeps < sleeps + 5) continue;
  EXPECT_EQ(lines, 0);
  work->m_is_more_expected = false;
  while (lines == 0) continue;
  work->m_result.set_value(1);
  EXPECT_EQ(waiting.get(), 1);
}

}  // namespace
}  // namespace trimtab::tasks

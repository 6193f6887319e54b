#include "transport/process_watch.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "test_process.hpp"
#include "transport_helpers.hpp"

namespace trimtab::parcels {
namespace {

class end_list {
 public:
  void add(locality_number number) {
    const std::scoped_lock lock(m_mutex);
    EXPECT_TRUE(m_numbers.insert(number).second) << number << " was reported twice";
  }
  std::set<locality_number> numbers() const {
    const std::scoped_lock lock(m_mutex);
    return m_numbers;
  }
  void wait_for(const std::set<locality_number>& expected) const {
    const test_deadline deadline;
    while (numbers() != expected && !deadline.is_over()) std::this_thread::yield();
    EXPECT_EQ(numbers(), expected);
  }

 private:
  mutable std::mutex m_mutex;
  std::set<locality_number> m_numbers;
};

watched_process watched_child(locality_number number, const test_process& child) {
  return {number, child.id(), start_time_of(child.id())};
}

void pause_for_ever() {
  while (true) pause();
}

}  // namespace

TEST(process_watch, start_times_tell_processes_apart) {
  const test_process child(pause_for_ever);
  EXPECT_GT(start_time_of(getpid()), 0u);
  EXPECT_GE(start_time_of(child.id()), start_time_of(getpid()));
  EXPECT_EQ(start_time_of(0x7fffffff), 0u);
}

TEST(process_watch, a_process_that_has_ended_has_no_start_time) {
  const test_process child([] {});
  siginfo_t information = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.id()), &information, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(start_time_of(child.id()), 0u) << "although its parent has not taken note";
}

TEST(process_watch, reports_each_end_once) {
  const test_process first(pause_for_ever), second(pause_for_ever), third(pause_for_ever);
  end_list ends;
  process_watch watch;
  ASSERT_EQ(watch.start({watched_child(1, first), watched_child(2, second), watched_child(3, third)},
                        [&](locality_number number) { ends.add(number); }),
            "");
  EXPECT_EQ(ends.numbers(), std::set<locality_number>());
  second.send(SIGKILL);
  ends.wait_for({2});
  first.send(SIGKILL);
  third.send(SIGSTOP);
  ends.wait_for({1, 2});
  third.send(SIGKILL);
  ends.wait_for({1, 2, 3});
}

TEST(process_watch, a_process_that_is_no_more_is_reported_at_once) {
  const test_process other(pause_for_ever);
  end_list ends;
  process_watch watch;
  const watched_process reused{7, other.id(), start_time_of(other.id()) - 1};
  ASSERT_EQ(watch.start({reused, {8, 0x7fffffff, 1}}, [&](locality_number number) { ends.add(number); }), "");
  EXPECT_EQ(ends.numbers(), (std::set<locality_number>{7, 8})) << "another process has that number now";
}

TEST(process_watch, ends_although_nothing_happens) {
  const test_process other(pause_for_ever);
  for (int round = 0; round < 100; ++round) {
    process_watch watch;
    ASSERT_EQ(watch.start({watched_child(1, other)}, [](locality_number) { FAIL(); }), "");
  }
}

}  // namespace trimtab::parcels

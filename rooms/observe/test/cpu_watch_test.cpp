#include "trimtab/observe/cpu_watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace trimtab::observe {
namespace {

// The calling thread's mask, put back afterwards.
class mask_kept {
 public:
  mask_kept() { sched_getaffinity(0, sizeof m_before, &m_before); }
  ~mask_kept() { sched_setaffinity(0, sizeof m_before, &m_before); }
  int cpus() const { return CPU_COUNT(&m_before); }
  bool narrow() const {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
  }
  bool widen() const { return sched_setaffinity(0, sizeof m_before, &m_before) == 0; }

 private:
  cpu_set_t m_before;
};

TEST(cpu_watch, sees_a_change_of_the_cpus_that_the_process_may_use) {
  const mask_kept own;
  if (own.cpus() < 2) GTEST_SKIP() << "one CPU cannot become fewer";
  cpu_watch watch(base::allowed_cpus(), "");
  EXPECT_EQ(watch.end(2).allowed_cpus, own.cpus());
  ASSERT_TRUE(own.narrow());
  const cpu_window narrow = watch.end(2);
  EXPECT_EQ(narrow.allowed_cpus, 1);
  EXPECT_EQ(narrow.idle_cpus, std::nullopt) << "the window began with other CPUs";
  EXPECT_EQ(watch.allowed_cpus(), 1);
  ASSERT_TRUE(own.widen());
  EXPECT_EQ(watch.end(2).allowed_cpus, own.cpus());
}

TEST(cpu_watch, does_not_take_the_mask_of_its_own_thread_for_the_process) {
  const mask_kept own;
  if (own.cpus() < 2) GTEST_SKIP() << "one CPU cannot become fewer";
  cpu_watch watch(base::allowed_cpus(), "");
  ASSERT_TRUE(own.narrow());  // bound from its beginning, as what a bound thread makes is
  EXPECT_EQ(watch.end(2).allowed_cpus, own.cpus());
  EXPECT_EQ(watch.end(2).allowed_cpus, own.cpus());
}

}  // namespace
}  // namespace trimtab::observe

// Which parts of regions ask the kernel, and what their rows say.
#include "accounting/cpu_sampling.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {
namespace {

using observe::the_recorder;
namespace fields = observe::cpu_use_fields;

constexpr std::uint32_t subject = 77;

observe::profile_row row_now() { return *observe::this_lane()->own_row(subject, observe::metric::cpu_use); }

void touch(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const fresh = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(fresh, MAP_FAILED);
  madvise(fresh, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(fresh)[i * page] = 1;
  munmap(fresh, pages * page);
}

TEST(cpu_sampling, the_first_part_is_asked_and_its_faults_are_counted) {
  cpu_sampling sampling;
  const observe::profile_row before = row_now();
  const base::ticks begin = sampling.begins(base::now());
  touch(100);
  sampling.ends(*observe::this_lane(), subject, begin, base::now());
  const observe::profile_row after = row_now();
  EXPECT_EQ(after.count, before.count + 1);
  EXPECT_GT(after.sum, before.sum);
  EXPECT_GE(after.x[fields::minor_faults], before.x[fields::minor_faults] + 100);
}

TEST(cpu_sampling, parts_within_a_gap_are_not_asked) {
  cpu_sampling sampling;
  const base::ticks first = sampling.begins(base::now());
  sampling.ends(*observe::this_lane(), subject, first, base::now());
  const observe::profile_row before = row_now();
  // Parts that begin at the same time as the first one, however many.
  for (int i = 0; i < 100; ++i) {
    const base::ticks begin = sampling.begins(first);
    EXPECT_EQ(begin, first);
    sampling.ends(*observe::this_lane(), subject, begin, first + 1);
  }
  EXPECT_EQ(row_now().count, before.count);
}

// The gaps lie between 0 and twice their mean.
TEST(cpu_sampling, one_part_in_a_millisecond_is_asked) {
  cpu_sampling sampling;
  const auto gap = static_cast<base::ticks>(the_recorder.ticks_of_ns(cpu_sampling::mean_gap_ns));
  const observe::profile_row before = row_now();
  const base::ticks start = base::now();
  constexpr unsigned parts = 10'000;
  for (unsigned i = 0; i < parts; ++i) {
    const base::ticks now = start + i * (gap / 10);
    const base::ticks begin = sampling.begins(now);
    sampling.ends(*observe::this_lane(), subject, begin, begin + 1);
  }
  const auto asked = static_cast<double>(row_now().count - before.count);
  EXPECT_NEAR(asked, parts / 10.5, parts / 100.0);
}

TEST(cpu_sampling, a_part_that_never_ended_is_forgotten) {
  cpu_sampling sampling;
  const base::ticks lost = sampling.begins(base::now());
  const auto gap = static_cast<base::ticks>(the_recorder.ticks_of_ns(cpu_sampling::mean_gap_ns));
  const observe::profile_row before = row_now();
  const base::ticks begin = sampling.begins(lost + 3 * gap);
  sampling.ends(*observe::this_lane(), subject, begin, begin + 5);
  EXPECT_EQ(row_now().count, before.count + 1);
  EXPECT_EQ(row_now().sum, before.sum + 5);
}

}  // namespace
}  // namespace trimtab::openmp

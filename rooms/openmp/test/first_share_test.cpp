// With how many members a program begins beside others: each test in a process that has had no region yet.
#include "steering/first_share.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch_folder.hpp"
#include "steering/team_sizes.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/observe/cpu_registry.hpp"

namespace trimtab::openmp {
namespace {

constexpr char a_runtime = 0;

struct a_first_region : ::testing::Test {
  a_first_region() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  scratch_folder folder;
  std::string path = folder.path() + "/cpus";

  // Members of the first region of a process with four CPUs, of `own` by itself.
  std::uint32_t members_beside(int others, std::uint32_t own_count) const {
    base::cpu_mask allowed{};
    allowed.bits[0] = 0b1111;
    announce(path, allowed);
    pid_t children[8] = {};
    for (int i = 0; i < others; ++i) {
      children[i] = fork();
      if (children[i] != 0) continue;
      observe::cpu_registry(path.c_str()).beat(base::monotonic_ns(), 4, 4, observe::fold(allowed));
      kill(getpid(), SIGSTOP);
      _exit(0);
    }
    for (int i = 0; i < others; ++i) waitpid(children[i], nullptr, WUNTRACED);
    take_first_share(own_count);
    const std::uint32_t members = the_team_sizes.fork({1, &a_runtime}, own_count);
    for (int i = 0; i < others; ++i) kill(children[i], SIGKILL), waitpid(children[i], nullptr, 0);
    if (taken_share().others != (members == team_sizes::as_it_is ? 0u : static_cast<std::uint32_t>(others))) return ~0u;
    return members;
  }
};

TEST_F(a_first_region, has_all_its_members_where_nobody_else_is) {
  EXPECT_EXIT(_exit(static_cast<int>(members_beside(0, 4))), ::testing::ExitedWithCode(team_sizes::as_it_is), "");
}

TEST_F(a_first_region, has_its_share_beside_others) {
  EXPECT_EXIT(_exit(static_cast<int>(members_beside(1, 4))), ::testing::ExitedWithCode(2), "");
  EXPECT_EXIT(_exit(static_cast<int>(members_beside(5, 4))), ::testing::ExitedWithCode(1), "");
}

TEST_F(a_first_region, is_left_alone_where_it_has_no_more_than_its_share) {
  EXPECT_EXIT(_exit(static_cast<int>(members_beside(1, 2))), ::testing::ExitedWithCode(team_sizes::as_it_is), "");
}

}  // namespace
}  // namespace trimtab::openmp

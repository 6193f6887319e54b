#include "trimtab/observe/cpu_registry.hpp"

#include <sys/stat.h>

#include <list>
#include <vector>

#include "cpu_registry_file.hpp"
#include "registry_children.hpp"
#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

struct a_registry : ::testing::Test {
  scratch_run scratch;
  std::string path = scratch.path() + "/cpus";
  cpu_registry here{path.c_str()};
  std::uint64_t now = base::monotonic_ns();

  std::size_t others(std::uint64_t at) {
    here.beat(at, 4, 4, {});
    return here.others();
  }
  std::size_t records() const {
    const std::vector<char> bytes = bytes_of(path);
    std::size_t found = 0;
    for (std::size_t i = 0; i < cpu_registry::most_members; ++i) {
      registry_file::record its;
      std::memcpy(&its, bytes.data() + registry_file::offset_of(i), sizeof its);
      found += its.pid != 0;
    }
    return found;
  }
  void write_at(std::size_t offset, const void* what, std::size_t size) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(static_cast<const char*>(what), static_cast<std::streamsize>(size));
  }
  void write_record(std::size_t place, registry_file::record its) const {
    its.wanted = 4;
    its.sum = registry_file::sum_of(its);
    write_at(registry_file::offset_of(place), &its, sizeof its);
  }
  std::size_t own_place() const {
    const std::vector<char> bytes = bytes_of(path);
    for (std::size_t i = 0; i < cpu_registry::most_members; ++i) {
      registry_file::record its;
      std::memcpy(&its, bytes.data() + registry_file::offset_of(i), sizeof its);
      if (its.pid == static_cast<std::uint32_t>(getpid())) return i;
    }
    return cpu_registry::most_members;
  }
};

TEST_F(a_registry, has_its_place_in_shared_memory) {
  char found[64];
  ASSERT_TRUE(cpu_registry::path_for(1234, "/elsewhere", found));
  EXPECT_TRUE(std::string(found) == "/dev/shm/trimtab-cpus-1234.1" ||
              std::string(found) == "/elsewhere/trimtab-cpus-1234.1");
  EXPECT_FALSE(cpu_registry::path_for(1234, "/elsewhere", std::span(found, 8)));
}

TEST_F(a_registry, of_one_gives_all_that_is_free) {
  EXPECT_EQ(others(now), 0u);
  EXPECT_STREQ(here.why_alone(), "");
  EXPECT_EQ(here.share(4, 0), 4u);
  struct stat its;
  ASSERT_EQ(stat(path.c_str(), &its), 0);
  EXPECT_EQ(its.st_mode & 0777, 0600u);
  here.leave();
  EXPECT_EQ(records(), 0u);
}

TEST_F(a_registry, of_64_is_seen_by_all_and_ends_empty) {
  constexpr std::uint32_t cpus = 96;
  std::vector<registry_child> all;
  for (int i = 0; i < 64; ++i) all.emplace_back(path);
  for (registry_child& each : all) each.beat(now, cpus);
  std::uint32_t shares = 0;
  for (registry_child& each : all) {
    const auto heard = each.beat(now, cpus);
    EXPECT_EQ(heard.others, 63u);
    EXPECT_GE(heard.share, 1u);
    EXPECT_LE(heard.share, 2u);
    shares += heard.share;
  }
  EXPECT_EQ(shares, cpus);
  for (registry_child& each : all) each.leave();
  EXPECT_EQ(records(), 0u);
}

TEST_F(a_registry, gives_the_share_of_the_dead_to_those_who_live) {
  registry_child dies(path), lives(path);
  for (int i = 0; i < 2; ++i) dies.beat(now, 4), lives.beat(now, 4);
  EXPECT_EQ(lives.beat(now, 4).share, 2u);
  dies.kill_it();
  // A zombie, for as long as nobody has waited for it.
  siginfo_t how;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(dies.pid()), &how, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(lives.beat(now + second / 2, 4).others, 1u) << "it beat half a second ago";
  const auto heard = lives.beat(now + 2 * second, 4);
  EXPECT_EQ(heard.others, 0u);
  EXPECT_EQ(heard.share, 4u);
  EXPECT_EQ(records(), 1u);
}

TEST_F(a_registry, sees_that_a_pid_is_another_process_now) {
  registry_child lives(path);
  others(now);
  registry_file::record its;
  its.pid = static_cast<std::uint32_t>(lives.pid());
  struct stat ns;
  ASSERT_EQ(stat("/proc/self/ns/pid", &ns), 0);
  its.pid_namespace = static_cast<std::uint32_t>(ns.st_ino);
  its.start = 1;
  its.beat_ns = now;
  write_record((own_place() + 1) % cpu_registry::most_members, its);
  EXPECT_EQ(others(now), 1u);
  EXPECT_EQ(others(now + 2 * second), 0u);
  EXPECT_EQ(records(), 1u);
}

TEST_F(a_registry, goes_by_the_beats_of_members_that_it_cannot_check) {
  others(now);
  registry_file::record its;
  its.pid = 1;
  its.pid_namespace = 7;
  its.start = 1;
  its.beat_ns = now;
  const std::size_t place = (own_place() + 1) % cpu_registry::most_members;
  write_record(place, its);
  EXPECT_EQ(others(now + 9 * second), 1u);
  EXPECT_EQ(others(now + 11 * second), 0u);
  EXPECT_EQ(records(), 1u);
  its.beat_ns = now + 60 * second;
  write_record(place, its);
  EXPECT_EQ(others(now + 11 * second), 0u) << "a beat that is still to come";
}

TEST_F(a_registry, does_not_count_a_process_that_is_stopped) {
  registry_child stopped(path);
  stopped.beat(now, 4);
  EXPECT_EQ(others(now + 9 * second), 1u);
  EXPECT_EQ(others(now + 11 * second), 0u);
  EXPECT_EQ(records(), 2u) << "its place stays its own";
  EXPECT_EQ(stopped.beat(now + 12 * second, 4).others, 1u);
  EXPECT_EQ(others(now + 12 * second), 1u);
}

TEST_F(a_registry, has_a_member_of_its_own_for_the_child_of_a_fork) {
  others(now);
  const pid_t child = fork();
  if (child == 0) {
    here.beat(now, 4, 4, {});
    _exit(static_cast<int>(here.others()));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(others(now), 1u) << "it has not left";
  EXPECT_EQ(others(now + 2 * second), 0u);
}

TEST_F(a_registry, is_left_alone_by_those_on_other_cpus) {
  registry_child low(path, 2, {0b0011}), high(path, 2, {0b1100});
  low.beat(now, 2), high.beat(now, 2);
  EXPECT_EQ(low.beat(now, 2).share, 2u);
  EXPECT_EQ(high.beat(now, 2).share, 2u);
}

TEST_F(a_registry, settles_when_all_come_at_once) {
  std::vector<registry_child> all;
  for (int i = 0; i < 12; ++i) all.emplace_back(path);
  for (registry_child& each : all) each.begin_beating(300);
  for (registry_child& each : all) each.beat(base::monotonic_ns(), 24);
  // From now on time stands still: however long the machine takes, nobody seems to have stopped.
  now = base::monotonic_ns();
  for (int round = 0; round < 2; ++round)
    for (registry_child& each : all) {
      const auto heard = each.beat(now, 24);
      if (round == 0) continue;
      EXPECT_EQ(heard.others, 11u);
      EXPECT_EQ(heard.share, 2u);
    }
}

TEST_F(a_registry, follows_processes_that_come_leave_and_are_killed_at_random) {
  std::uint64_t seed = 20261121;
  const auto below = [&](std::uint64_t limit) { return base::mix(seed++) % limit; };
  std::list<registry_child> all;
  for (int step = 0; step < 150; ++step) {
    now += second / 10;
    auto chosen = all.begin();
    if (!all.empty()) std::advance(chosen, static_cast<std::ptrdiff_t>(below(all.size())));
    const auto what = below(10);
    if (all.size() < 3 || (what < 4 && all.size() < 24)) {
      all.emplace_back(path);
      all.back().beat(now, 64);
    } else if (what < 6) {
      all.erase(chosen);  // by SIGKILL, maybe within a beat
    } else if (what == 6) {
      chosen->leave();
      all.erase(chosen);
    } else if (what == 7) {
      chosen->begin_beating(below(50));
    } else {
      chosen->beat(now, 64);
    }
  }
  // Once all have done what they were told: who still beats takes what comes 30 s later for another clock's.
  for (registry_child& each : all) each.beat(base::monotonic_ns(), 64);
  now = base::monotonic_ns() + 30 * second;
  for (int round = 0; round < 2; ++round) {
    std::uint32_t shares = 0;
    for (registry_child& each : all) {
      const auto heard = each.beat(now, 64);
      EXPECT_TRUE(round == 0 || heard.others + 1 == all.size()) << heard.others;
      shares += heard.share;
    }
    EXPECT_TRUE(round == 0 || shares == std::min<std::size_t>(64, 4 * all.size())) << shares;
  }
  EXPECT_EQ(records(), all.size());
}

}  // namespace
}  // namespace trimtab::observe::testing

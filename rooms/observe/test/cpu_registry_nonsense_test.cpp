// What a member makes of a registry that is not as it should be: as if it were alone, and never a crash.
#include <sys/stat.h>

#include <vector>

#include "cpu_registry_file.hpp"
#include "registry_children.hpp"
#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

struct a_registry_of_nonsense : ::testing::Test {
  scratch_run scratch;
  std::string path = scratch.path() + "/cpus";
  cpu_registry here{path.c_str()};
  std::uint64_t now = base::monotonic_ns();

  void beat() { here.beat(now, 4, 4, {}); }
  void expect_alone(const char* why) {
    beat();
    EXPECT_EQ(here.others(), 0u);
    EXPECT_EQ(here.share(4, 0), 4u);
    EXPECT_NE(std::string(here.why_alone()).find(why), std::string::npos) << here.why_alone();
  }
  void write(const std::vector<char>& bytes) const {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    chmod(path.c_str(), 0600);
  }
};

TEST_F(a_registry_of_nonsense, of_another_version_stays_as_it_is) {
  registry_child other(path);
  other.beat(now, 4);
  std::vector<char> bytes = bytes_of(path);
  bytes[8] += 1;
  write(bytes);
  expect_alone("version");
  EXPECT_EQ(bytes_of(path), bytes);
}

TEST_F(a_registry_of_nonsense, that_is_larger_stays_as_it_is) {
  std::vector<char> bytes(registry_file::bytes + 1);
  write(bytes);
  expect_alone("larger");
  EXPECT_EQ(bytes_of(path), bytes);
}

TEST_F(a_registry_of_nonsense, that_others_may_read_or_that_is_no_file_is_not_used) {
  write({});
  chmod(path.c_str(), 0644);
  expect_alone("this user's");
  unlink(path.c_str());
  ASSERT_EQ(symlink("/dev/null", path.c_str()), 0);
  expect_alone("opened");
  unlink(path.c_str());
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  expect_alone("opened");
  rmdir(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_alone("this user's");
  unlink(path.c_str());
  cpu_registry nowhere((scratch.path() + "/no/where").c_str());
  nowhere.beat(now, 4, 4, {});
  EXPECT_STREQ(nowhere.why_alone(), "the registry cannot be opened");
  cpu_registry too_long(std::string(600, 'x').c_str());
  too_long.beat(now, 4, 4, {});
  EXPECT_EQ(too_long.share(4, 0), 4u);
}

TEST_F(a_registry_of_nonsense, that_was_cut_off_is_whole_after_the_next_beats) {
  for (const std::size_t length : {0u, 10u, 64u, 100u, 5000u}) {
    registry_child other(path);
    other.beat(now, 4);
    beat();
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(length)), 0);
    if (length == 10) {
      // A head of which the rest is missing is of no version.
      expect_alone("version");
      unlink(path.c_str());
    }
    for (int i = 0; i < 2; ++i) beat(), other.beat(now, 4);
    EXPECT_EQ(here.others(), 1u) << length;
    EXPECT_EQ(bytes_of(path).size(), registry_file::bytes);
    other.leave();
  }
}

TEST_F(a_registry_of_nonsense, is_put_right_where_records_are_damaged) {
  std::uint64_t seed = 7;
  registry_child other(path);
  for (int round = 0; round < 200; ++round) {
    now += 1'000'000;
    beat(), other.beat(now, 4), beat();
    ASSERT_EQ(here.others(), 1u) << round;
    std::vector<char> bytes = bytes_of(path);
    // Single bits, or everything.
    const bool is_all = round % 10 == 0;
    for (std::size_t i = 0; i < (is_all ? bytes.size() - 64 : 40); ++i) {
      const std::size_t at = 64 + (is_all ? i : base::mix(seed++) % (bytes.size() - 64));
      bytes[at] = static_cast<char>(is_all ? base::mix(seed++)
                                           : static_cast<unsigned char>(bytes[at]) ^ 1u << base::mix(seed++) % 8);
    }
    write(bytes);
    beat();
    ASSERT_LE(here.others(), 1u) << "a member that there is not, round " << round;
    ASSERT_GE(here.share(4, 0), 2u);
  }
}

TEST_F(a_registry_of_nonsense, that_is_full_is_not_written) {
  beat();
  here.leave();
  std::vector<char> bytes = bytes_of(path);
  for (std::size_t i = 0; i < cpu_registry::most_members; ++i) {
    registry_file::record its;
    its.pid = static_cast<std::uint32_t>(i + 1);
    its.pid_namespace = 7;
    its.beat_ns = now;
    its.wanted = 1;
    its.sum = registry_file::sum_of(its);
    std::memcpy(bytes.data() + registry_file::offset_of(i), &its, sizeof its);
  }
  write(bytes);
  expect_alone("full");
  EXPECT_EQ(bytes_of(path), bytes);
}

TEST_F(a_registry_of_nonsense, with_ranges_that_cannot_be_counts_no_such_member) {
  beat();
  for (const auto& [wanted, used] : {std::pair{0u, 0u}, {1u << 20, 0u}, {4u, 4'000'000'000u}}) {
    registry_file::record its;
    its.pid = 1;
    its.pid_namespace = 7;
    its.beat_ns = now;
    its.wanted = wanted;
    its.used_milli = used;
    its.sum = registry_file::sum_of(its);
    std::vector<char> bytes = bytes_of(path);
    for (std::size_t i = 0; i < cpu_registry::most_members; i += 2)
      std::memcpy(bytes.data() + registry_file::offset_of(i), &its, sizeof its);
    write(bytes);
    beat();
    EXPECT_EQ(here.others(), 0u) << wanted << ' ' << used;
  }
}

}  // namespace
}  // namespace trimtab::observe::testing

#include "trimtab/base/topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>

#include "scratch_folder.hpp"

namespace trimtab::base {
namespace {

// A made-up root of /proc and /sys.
class fake_root : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) { m_folder.put(path, text); }
  double quota() { return read_cpu_quota(m_root.c_str()); }
  scratch_folder m_folder;
  const std::string& m_root = m_folder.path();
};

constexpr char v2_mount[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char v1_mount[] = "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n";

TEST_F(fake_root, no_cgroup_means_no_quota) {
  EXPECT_EQ(quota(), 0.0);
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(quota(), 0.0);
}

TEST_F(fake_root, v2_quota_is_the_least_of_the_cgroup_and_its_ancestors) {
  put("/proc/self/cgroup", "0::/user/app\n");
  put("/proc/self/mountinfo", v2_mount);
  put("/sys/fs/cgroup/user/app/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0.0);
  put("/sys/fs/cgroup/user/app/cpu.max", "400000 100000\n");
  put("/sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 1.5);
  put("/sys/fs/cgroup/user/app/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

TEST_F(fake_root, v1_quota_of_the_cpu_controller) {
  put("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/abc\n");
  put("/proc/self/mountinfo", v1_mount);
  put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0.0);
  put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "200000\n");
  EXPECT_DOUBLE_EQ(quota(), 2.0);
}

TEST_F(fake_root, v1_memory_alone_says_nothing_of_cpus) {
  put("/proc/self/cgroup", "5:memory:/m\n0::/\n");
  put("/proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  EXPECT_EQ(quota(), 0.0);
}

TEST_F(fake_root, a_container_sees_its_own_cgroup_as_the_top_of_the_mount) {
  put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc\n");
  put("/proc/self/mountinfo", "31 23 0:27 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "75000\n");
  put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota(), 0.75);
}

TEST_F(fake_root, a_name_that_only_begins_like_the_top_is_not_below_it) {
  put("/proc/self/cgroup", "4:cpu:/docker/abcd\n");
  put("/proc/self/mountinfo", "31 23 0:27 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  put("/sys/fs/cgroup/cpud/cpu.cfs_quota_us", "75000\n");
  put("/sys/fs/cgroup/cpud/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0.0);
}

TEST_F(fake_root, the_directory_that_limits_most_is_the_one_found) {
  put("/proc/self/cgroup", "0::/user/app\n");
  put("/proc/self/mountinfo", v2_mount);
  put("/sys/fs/cgroup/user/app/cpu.max", "400000 100000\n");
  put("/sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  cgroup_directory directory;
  ASSERT_TRUE(find_cpu_cgroup(m_root.c_str(), directory));
  EXPECT_EQ(directory.path, m_root + "/sys/fs/cgroup/user");
  EXPECT_TRUE(directory.is_v2);
  ASSERT_TRUE(find_cgroup(m_root.c_str(), true, "", directory));
  EXPECT_EQ(directory.path, m_root + "/sys/fs/cgroup/user/app");
}

TEST_F(fake_root, without_a_quota_the_own_directory_of_version_1_is_found) {
  put("/proc/self/cgroup", "4:cpu:/a\n0::/b\n");
  put("/proc/self/mountinfo", std::string(v1_mount) + v2_mount);
  cgroup_directory directory;
  ASSERT_TRUE(find_cpu_cgroup(m_root.c_str(), directory));
  EXPECT_EQ(directory.path, m_root + "/sys/fs/cgroup/cpu,cpuacct/a");
  EXPECT_FALSE(directory.is_v2);
}

TEST_F(fake_root, both_versions_at_once_give_the_least) {
  put("/proc/self/cgroup", "4:cpu:/a\n0::/a\n");
  put("/proc/self/mountinfo", std::string(v1_mount) + v2_mount);
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 2.0);
}

TEST_F(fake_root, domains_of_memory_are_nodes_that_have_cpus) {
  put("/sys/devices/system/node/online", "0-1,4\n");
  put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  put("/sys/devices/system/node/node1/cpulist", "\n");
  put("/sys/devices/system/node/node4/cpulist", "2-3,6\n");
  std::uint32_t domain_of[8];
  EXPECT_EQ(read_memory_domains(domain_of, 8, m_root.c_str()), 2u);
  const std::uint32_t expected[8] = {0, 0, 1, 1, 0, 0, 1, 0};
  for (int cpu = 0; cpu < 8; ++cpu) EXPECT_EQ(domain_of[cpu], expected[cpu]) << cpu;
}

TEST_F(fake_root, where_the_kernel_tells_no_nodes_there_is_one_domain) {
  std::uint32_t domain_of[2] = {7, 7};
  EXPECT_EQ(read_memory_domains(domain_of, 2, m_root.c_str()), 1u);
  EXPECT_EQ(domain_of[1], 0u);
}

TEST(cpu_mask, counts_and_finds_its_cpus) {
  cpu_mask mask;
  EXPECT_EQ(mask.count(), 0u);
  mask.bits[0] = 5;
  mask.bits[20] = 2;  // CPU 1281: beyond what cpu_set_t holds
  EXPECT_EQ(mask.count(), 3u);
  EXPECT_TRUE(mask.has(0) && mask.has(2) && mask.has(1281));
  EXPECT_FALSE(mask.has(1) || mask.has(1280) || mask.has(cpu_mask::most));
}

TEST(cpu_limits, of_this_process_are_sane) {
  const cpu_limits limits = read_cpu_limits();
  EXPECT_GE(limits.online, 1u);
  EXPECT_GE(limits.affinity, 1u);
  EXPECT_GT(limits.available, 0.0);
  EXPECT_LE(limits.available, limits.affinity);
}

// In a process of its own: what is kept is kept for good.
TEST(allowed_cpus, are_those_that_were_kept_before_a_thread_was_bound) {
  cpu_mask all;
  ASSERT_TRUE(read_affinity(all));
  if (all.count() < 2) GTEST_SKIP() << "one CPU";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cpu_mask first, now;
    const auto word = std::find_if(std::begin(all.bits), std::end(all.bits), [](unsigned long bits) { return bits != 0; });
    first.bits[word - all.bits] = *word & -*word;
    keep_allowed_cpus();
    if (sched_setaffinity(0, sizeof first.bits, reinterpret_cast<cpu_set_t*>(first.bits)) != 0) _exit(2);
    keep_allowed_cpus();
    const bool is_bound = read_affinity(now) && now.count() == 1;
    _exit(is_bound && allowed_cpus().count() == all.count() && read_cpu_limits().affinity == all.count() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(cpu_list, is_written_as_linux_does) {
  const auto list_of = [](std::initializer_list<unsigned> cpus, std::size_t room) {
    cpu_mask mask;
    for (const unsigned cpu : cpus) mask.bits[cpu / 64] |= 1ul << (cpu % 64);
    char text[64] = {};
    return write_cpu_list(mask, text, room) ? std::string(text) : "none";
  };
  EXPECT_EQ(list_of({0}, 64), "0");
  EXPECT_EQ(list_of({0, 1, 2, 3, 8}, 64), "0-3,8");
  EXPECT_EQ(list_of({63, 64, 66, 8191}, 64), "63-64,66,8191");
  EXPECT_EQ(list_of({}, 64), "none");
  EXPECT_EQ(list_of({0, 2, 4}, 6), "0,2,4") << "with the zero at its end";
  EXPECT_EQ(list_of({0, 2, 4}, 5), "none");
}

}  // namespace
}  // namespace trimtab::base

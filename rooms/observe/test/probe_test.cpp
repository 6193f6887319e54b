// The probes that read text files, against made-up ones.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "probe_fixture.hpp"
#include "probes/cgroup.hpp"
#include "probes/cpu.hpp"
#include "probes/instances.hpp"
#include "probes/proc_file.hpp"
#include "probes/psi.hpp"
#include "probes/threads.hpp"

namespace trimtab::observe::testing {
namespace {

using doubles = std::vector<double>;

TEST_F(probe_test, file_that_is_too_long_is_cut_off_and_still_a_string) {
  put("/long", std::string(100, 'x'));
  char text[10];
  EXPECT_EQ(read_file((root() + "/long").c_str(), text, sizeof text), 9);
  EXPECT_STREQ(text, "xxxxxxxxx");
  EXPECT_EQ(read_file((root() + "/none").c_str(), text, sizeof text), -ENOENT);
}

TEST_F(probe_test, numbers_are_found_by_whole_keys) {
  std::uint64_t value = 0;
  const char* const text = "nr_throttled 3\nnr_throttled_more 4\nkey:\t 5 kB\nodd: x\n";
  EXPECT_TRUE(find_number(text, "nr_throttled", value));
  EXPECT_EQ(value, 3u);
  EXPECT_TRUE(find_number(text, "key", value));
  EXPECT_EQ(value, 5u);
  EXPECT_FALSE(find_number(text, "odd", value));
  EXPECT_FALSE(find_number(text, "nr", value));
}

// Whose numbers of processes ROOT/proc has.
class thread_figures_test : public probe_test {
 protected:
  void number_as(int pid) {
    const std::filesystem::path self = root() + "/proc/self";
    std::filesystem::create_directories(root() + "/proc/" + std::to_string(pid));
    std::filesystem::remove(self);
    std::filesystem::create_directory_symlink(std::to_string(pid), self);
  }
};

TEST_F(thread_figures_test, come_from_three_files) {
  number_as(getpid());
  put("/proc/7/schedstat", "1000 200 30\n");
  put("/proc/7/status", "Name:\tx\nvoluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t5\n");
  thread_figures figures = read_thread(proc_threads(root().c_str()), 7, thread_detail::all);
  EXPECT_TRUE(figures.is_valid);
  EXPECT_EQ(figures.run_ns, 1000u);
  EXPECT_EQ(figures.run_delay_ns, 200u);
  EXPECT_EQ(figures.time_slices, 30u);
  EXPECT_EQ(figures.voluntary_switches, 4u);
  EXPECT_EQ(figures.involuntary_switches, 5u);
  EXPECT_EQ(figures.migrations, unknown);
  put("/proc/7/sched", "cat (7)\n---\nse.nr_migrations      :       6\n");
  figures = read_thread(proc_threads(root().c_str()), 7, thread_detail::all);
  EXPECT_EQ(figures.migrations, 6u);
  EXPECT_EQ(figures.usage.minor_faults, 0u);
  put("/proc/7/stat", "7 (a) b (c) R 1 7 7 0 -1 4194304 95 1 6 2 12 3 0 0 20 0 3 0 100 1000 50\n");
  figures = read_thread(proc_threads(root().c_str()), 7, thread_detail::all);
  EXPECT_EQ(figures.usage.minor_faults, 95u);
  EXPECT_EQ(figures.usage.major_faults, 6u);
  const auto step_ns = static_cast<std::uint64_t>(1'000'000'000 / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(figures.usage.program_ns, 12 * step_ns);
  EXPECT_EQ(figures.usage.kernel_ns, 3 * step_ns);
  EXPECT_FALSE(read_thread(proc_threads(root().c_str()), 8, thread_detail::all).is_valid);
}

TEST_F(thread_figures_test, are_not_those_of_a_namesake_in_another_pid_namespace) {
  put("/proc/7/schedstat", "1000 200 30\n");
  number_as(getpid() + 1);
  EXPECT_FALSE(read_thread(proc_threads(root().c_str()), 7, thread_detail::times).is_valid);
  number_as(getpid());
  EXPECT_TRUE(read_thread(proc_threads(root().c_str()), 7, thread_detail::times).is_valid);
}

TEST_F(thread_figures_test, say_which_cpu_a_thread_is_on) {
  number_as(getpid());
  const proc_threads threads(root().c_str());
  put("/proc/7/stat",
      "7 (a) b (c) R 1 7 7 0 -1 4194304 95 0 0 0 12 3 0 0 20 0 3 0 100 1000 50 18446744073709551615 1 2 3 0 0 0 0 4096 0 0 "
      "0 0 "
      "-1 13 0 0 0 0 0\n");
  EXPECT_EQ(threads.cpu(7), 13u);
  put("/proc/8/stat", "8 (cut off) R 1 7\n");
  EXPECT_FALSE(threads.cpu(8));
  EXPECT_FALSE(threads.cpu(9));
  // The kernel's own word for this thread, which may be moved between the two.
  const proc_threads real("");
  bool is_same = false;
  for (int i = 0; i < 1000 && !is_same; ++i)
    is_same = real.cpu(static_cast<std::uint32_t>(gettid())) == static_cast<std::uint32_t>(sched_getcpu());
  EXPECT_TRUE(is_same);
}

// Entries below /proc/self/task would hold up whoever waits for the program: see write_thread_path.
TEST_F(thread_figures_test, are_not_read_through_the_folder_of_the_process) {
  number_as(getpid());
  put("/proc/self/task/7/schedstat", "1000 200 30\n");
  EXPECT_FALSE(read_thread(proc_threads(root().c_str()), 7, thread_detail::times).is_valid);
}

TEST_F(thread_figures_test, say_whether_the_lanes_threads_lack_cpus) {
  number_as(getpid());
  lane* const opened = m_to->open_lane();
  ASSERT_NE(opened, nullptr);
  const std::string file = "/proc/" + std::to_string(opened->header().tid) + "/schedstat";
  put(file, "0 0 1\n");
  probe* const threads = probe_named("threads");
  threads->after_fork();
  ASSERT_TRUE(threads->start(*m_to, root().c_str()));
  threads->lane_opened(*m_to, *opened);
  const auto told_with = [&](const char* text) {
    put(file, text);
    threads->sample(*m_to, 1);
    return do_threads_lack_cpus();
  };
  EXPECT_FALSE(told_with("2000000 2000000 5\n")) << "too little to say anything";
  EXPECT_TRUE(told_with("90000000 10000000 5\n"));
  EXPECT_TRUE(told_with("92000000 10000000 5\n")) << "too little to say anything else";
  EXPECT_FALSE(told_with("190000000 11000000 6\n"));
  EXPECT_TRUE(told_with("200000000 21000000 7\n"));
  threads->lane_closed(*m_to, *opened);
  threads->after_fork();
  EXPECT_FALSE(do_threads_lack_cpus());
}

TEST_F(probe_test, process_delay_is_the_sum_over_its_threads) {
  EXPECT_EQ(read_process_delay(root().c_str()), unknown);
  for (const char* const thread : {"7", "8"}) std::filesystem::create_directories(root() + "/proc/self/task/" + thread);
  put("/proc/7/schedstat", "1000 200 30\n");
  put("/proc/8/schedstat", "1000 50 30\n");
  EXPECT_EQ(read_process_delay(root().c_str()), 250u);
}

TEST_F(probe_test, cpu_times_are_of_the_chosen_cpus_alone) {
  put("/proc/stat",
      "cpu  9 9 9 9 9 9 9 9 9 9\n"
      "cpu0 1 2 3 1000 7 4 5 6 1 0\n"
      "cpu3 10 20 30 1000 7 40 50 60 1 0\n"
      "intr 12345 1 2 3\n");
  base::cpu_mask mask;
  mask.bits[0] = 1;
  cpu_times times = read_cpu_times(root().c_str(), mask);
  EXPECT_TRUE(times.is_valid);
  EXPECT_EQ(times.busy, 15u);
  EXPECT_EQ(times.stolen, 6u);
  mask.bits[0] = 1 | 8;
  times = read_cpu_times(root().c_str(), mask);
  EXPECT_EQ(times.busy, 165u);
  EXPECT_EQ(times.stolen, 66u);
  mask.bits[0] = 2;
  EXPECT_FALSE(read_cpu_times(root().c_str(), mask).is_valid);
}

TEST_F(probe_test, memory_is_in_bytes) {
  put("/proc/self/statm", "100 25 5 1 0 20 0\n");
  put("/proc/meminfo", "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable:   50 kB\n");
  probe* const memory = probe_named("memory");
  ASSERT_TRUE(memory->start(*m_to, root().c_str()));
  put("/proc/self/statm", "100 26 5 1 0 20 0\n");
  memory->sample(*m_to, 1);
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(values("resident memory"), (doubles{25 * page, 26 * page}));
  EXPECT_EQ(values("memory available"), (doubles{50.0 * 1024, 50.0 * 1024}));
  EXPECT_EQ(names().units.at("resident memory"), "B");
}

TEST_F(probe_test, memory_tells_what_the_kernel_did_for_the_process) {
  put("/proc/self/statm", "100 25 5 1 0 20 0\n");
  put("/proc/self/status", "Name:\tx\nVmHWM:\t  300000 kB\n");
  put("/proc/self/smaps_rollup", "55 - 7f [rollup]\nRss:   300000 kB\nAnonHugePages:      64 kB\n");
  probe* const memory = probe_named("memory");
  memory->attached();
  ASSERT_TRUE(memory->start(*m_to, root().c_str()));
  constexpr std::size_t pages = 5000;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  memory->sample(*m_to, 1);
  void* const fresh = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(fresh, MAP_FAILED);
  madvise(fresh, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(fresh)[i * page] = 1;
  munmap(fresh, pages * page);
  memory->stop(*m_to, 2);
  const doubles faults = values("minor page faults");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_GE(faults[1] - faults[0], static_cast<double>(pages));
  EXPECT_EQ(values("kernel time").size(), 2u);
  EXPECT_EQ(values("peak resident memory"), doubles{300'000.0 * 1024});
  // So many faults are worth knowing what one costs.
  ASSERT_EQ(values("page fault cost").size(), 1u);
  EXPECT_GT(values("page fault cost")[0], 1e-9);
  EXPECT_LT(values("page fault cost")[0], 1e-3);
  EXPECT_EQ(values("page release cost").size(), 1u);
  EXPECT_EQ(values("huge pages"), doubles{64.0 * 1024});
}

TEST_F(probe_test, pressure_counts_from_the_start_of_the_probe) {
  put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\n");
  put("/proc/pressure/io",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  probe* const psi = probe_named("psi");
  ASSERT_TRUE(psi->start(*m_to, root().c_str()));
  psi->sample(*m_to, 1);
  put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7500000\n");
  psi->sample(*m_to, 2);
  EXPECT_EQ(values("pressure cpu some"), (doubles{0, 2.5}));
  EXPECT_EQ(values("pressure io full"), (doubles{0, 0}));
  EXPECT_TRUE(values("pressure cpu some").size() == 2 && samples("pressure cpu some")[1].ticks == 2);
  EXPECT_EQ(names().unavailable, std::vector<std::string>{"pressure stall information"});  // memory is missing
}

TEST_F(probe_test, pressure_of_the_own_cgroup) {
  put("/proc/self/cgroup", "0::/app\n");
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/app/cgroup.type", "domain\n");
  put("/sys/fs/cgroup/app/memory.pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
  probe* const psi = probe_named("psi");
  ASSERT_TRUE(psi->start(*m_to, root().c_str()));
  put("/sys/fs/cgroup/app/memory.pressure",
      "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000004\n");
  psi->sample(*m_to, 1);
  EXPECT_EQ(values("cgroup pressure memory full"), doubles{1.0});
}

TEST_F(probe_test, pressure_of_the_top_cgroup_is_that_of_the_machine) {
  constexpr char some[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=10\n";
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/proc/pressure/cpu", some);
  put("/sys/fs/cgroup/cpu.pressure", some);
  probe* const psi = probe_named("psi");
  ASSERT_TRUE(psi->start(*m_to, root().c_str()));
  EXPECT_EQ(names().units.count("pressure cpu some"), 1u);
  EXPECT_EQ(names().units.count("cgroup pressure cpu some"), 0u);
  put("/sys/fs/cgroup/cgroup.type", "domain\n");  // what a container takes for the top is not
  ASSERT_TRUE(psi->start(*m_to, root().c_str()));
  EXPECT_EQ(names().units.count("cgroup pressure cpu some"), 1u);
}

TEST_F(probe_test, without_pressure_files_it_says_so_with_a_remedy) {
  EXPECT_FALSE(probe_named("psi")->start(*m_to, root().c_str()));
  EXPECT_NE(names().remedy.at("pressure stall information").find("CONFIG_PSI"), std::string::npos);
}

constexpr char v2_mount[] = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

TEST_F(probe_test, throttling_of_the_ancestor_that_has_the_quota) {
  put("/proc/self/cgroup", "0::/slice/app\n");
  put("/proc/self/mountinfo", v2_mount);
  put("/sys/fs/cgroup/slice/app/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  put("/sys/fs/cgroup/slice/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1000000\n");
  probe* const cgroup = probe_named("cgroup");
  ASSERT_TRUE(cgroup->start(*m_to, root().c_str()));
  put("/sys/fs/cgroup/slice/cpu.stat", "usage_usec 5\nnr_periods 20\nnr_throttled 7\nthrottled_usec 3500000\n");
  cgroup->sample(*m_to, 1);
  EXPECT_EQ(values("quota periods"), doubles{10});
  EXPECT_EQ(values("quota periods throttled"), doubles{3});
  EXPECT_EQ(values("time throttled"), doubles{2.5});
  EXPECT_EQ(names().facts.at("cpu quota"), "1.500");
}

TEST_F(probe_test, version_1_counts_throttled_time_in_nanoseconds) {
  put("/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 2000000\n");
  base::cgroup_directory directory;
  std::snprintf(directory.path, sizeof directory.path, "%s", root().c_str());
  EXPECT_EQ(read_throttling(directory).throttled_us, 2000u);
  directory.is_v2 = true;
  EXPECT_FALSE(read_throttling(directory).is_valid);
}

TEST_F(probe_test, no_quota_is_a_fact_and_nothing_unavailable) {
  put("/proc/self/cgroup", "0::/app\n");
  put("/proc/self/mountinfo", v2_mount);
  put("/sys/fs/cgroup/app/cpu.max", "max 100000\n");
  EXPECT_FALSE(probe_named("cgroup")->start(*m_to, root().c_str()));
  EXPECT_EQ(names().facts.at("cpu quota"), "none");
  EXPECT_TRUE(names().unavailable.empty());
}

TEST_F(probe_test, energy_of_all_packages_goes_on_when_a_meter_wraps) {
  const std::string powercap = "/sys/class/powercap/intel-rapl:";
  put(powercap + "0/name", "package-0\n");
  put(powercap + "0/energy_uj", "9000000\n");
  put(powercap + "0/max_energy_range_uj", "10000000\n");
  put(powercap + "0:0/name", "dram\n");
  put(powercap + "0:0/energy_uj", "100\n");
  put(powercap + "1/name", "package-1\n");
  put(powercap + "1/energy_uj", "0\n");
  probe* const energy = probe_named("energy");
  ASSERT_TRUE(energy->start(*m_to, root().c_str()));
  energy->sample(*m_to, 1);
  put(powercap + "0/energy_uj", "500000\n");
  put(powercap + "0:0/energy_uj", "1000100\n");
  put(powercap + "1/energy_uj", "3000000\n");
  energy->sample(*m_to, 2);
  EXPECT_EQ(values("energy package-0"), (doubles{0, 1.5}));
  EXPECT_EQ(values("energy 0 dram"), (doubles{0, 1}));
  EXPECT_EQ(values("energy package-1"), (doubles{0, 3}));
}

TEST_F(probe_test, disk_traffic_counts_whole_disks_once) {
  put("/proc/self/io", "rchar: 9\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 100\ncancelled_write_bytes: 0\n");
  put("/proc/diskstats",
      "   8       0 sda 5 0 100 7 3 0 40 7 0 7 14\n"
      "   8       1 sda1 5 0 100 7 3 0 40 7 0 7 14\n"
      " 253       0 dm-0 5 0 100 7 3 0 40 7 0 7 14\n"
      " 259       0 nvme0n1 5 0 10 7 3 0 0 7 0 7 14 1 2 3 4 5 6\n");
  for (const char* const disk : {"sda", "nvme0n1"})
    std::filesystem::create_directories(root() + "/sys/block/" + disk + "/device");
  probe* const disk = probe_named("disk");
  ASSERT_TRUE(disk->start(*m_to, root().c_str()));
  put("/proc/self/io", "rchar: 9\nwchar: 9\nread_bytes: 8192\nwrite_bytes: 300\ncancelled_write_bytes: 0\n");
  put("/proc/diskstats",
      "   8       0 sda 5 0 102 7 3 0 44 7 0 7 14\n"
      "   8       1 sda1 5 0 102 7 3 0 44 7 0 7 14\n"
      " 259       0 nvme0n1 5 0 11 7 3 0 0 7 0 7 14 1 2 3 4 5 6\n");
  disk->sample(*m_to, 1);
  EXPECT_EQ(values("disk read"), doubles{4096});
  EXPECT_EQ(values("disk written"), doubles{200});
  EXPECT_EQ(values("machine disk read"), doubles{3 * 512});
  EXPECT_EQ(values("machine disk written"), doubles{4 * 512});
}

TEST_F(probe_test, disk_traffic_of_the_process_alone) {
  put("/proc/self/io", "read_bytes: 1\nwrite_bytes: 2\n");
  put("/proc/diskstats", "   7       0 loop0 5 0 100 7 3 0 40 7 0 7 14\n");
  ASSERT_TRUE(probe_named("disk")->start(*m_to, root().c_str()));
  EXPECT_EQ(names().unavailable, std::vector<std::string>{"disk traffic of the machine"});
}

TEST_F(probe_test, without_disk_files_there_is_nothing) {
  EXPECT_FALSE(probe_named("disk")->start(*m_to, root().c_str()));
  EXPECT_EQ(names().unavailable.size(), 2u);
}

constexpr char network_titles[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier "
    "compressed\n";

TEST_F(probe_test, network_traffic_of_devices_is_not_counted_again_above_them) {
  const auto put_traffic = [&](const std::string& lines) { put("/proc/net/dev", network_titles + lines); };
  put_traffic(
      "    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n  eth0:1000 5 0 0 0 0 0 0 70 5 0 0 0 0 0 0\n"
      "  br-0: 1000 5 0 0 0 0 0 0 70 5 0 0 0 0 0 0\n");
  std::filesystem::create_directories(root() + "/sys/class/net/eth0/device");
  probe* const network = probe_named("network");
  ASSERT_TRUE(network->start(*m_to, root().c_str()));
  put_traffic(
      "    lo: 700 5 0 0 0 0 0 0 700 5 0 0 0 0 0 0\n  eth0: 1500 5 0 0 0 0 0 0 170 5 0 0 0 0 0 0\n"
      "  br-0: 1500 5 0 0 0 0 0 0 170 5 0 0 0 0 0 0\n");
  network->sample(*m_to, 1);
  EXPECT_EQ(values("network received"), doubles{500});
  EXPECT_EQ(values("network sent"), doubles{100});
  EXPECT_EQ(values("loopback traffic"), doubles{200});
}

TEST_F(probe_test, network_traffic_of_a_container_that_sees_no_device) {
  put("/proc/net/dev", std::string(network_titles) + "  eth0: 10 5 0 0 0 0 0 0 20 5 0 0 0 0 0 0\n");
  probe* const network = probe_named("network");
  ASSERT_TRUE(network->start(*m_to, root().c_str()));
  put("/proc/net/dev", std::string(network_titles) + "  eth0: 15 5 0 0 0 0 0 0 27 5 0 0 0 0 0 0\n");
  network->sample(*m_to, 1);
  EXPECT_EQ(values("network received"), doubles{5});
  EXPECT_EQ(values("network sent"), doubles{7});
  put("/proc/net/dev", network_titles);
  network->sample(*m_to, 2);
  EXPECT_EQ(values("network received"), doubles{5}) << "the interface is gone";
}

TEST_F(probe_test, without_network_files_there_is_nothing) {
  EXPECT_FALSE(probe_named("network")->start(*m_to, root().c_str()));
  EXPECT_EQ(names().unavailable, std::vector<std::string>{"network traffic"});
}

TEST_F(probe_test, no_power_meter_is_unavailable) {
  EXPECT_FALSE(probe_named("energy")->start(*m_to, root().c_str()));
  EXPECT_EQ(names().unavailable, std::vector<std::string>{"energy"});
}

TEST_F(probe_test, load_of_others_is_what_the_process_did_not_use) {
  // A CPU that this process may use, whichever that is.
  const base::cpu_mask allowed = base::allowed_cpus();
  std::size_t one = 0;
  while (!allowed.has(one)) ++one;
  put("/proc/stat", "cpu" + std::to_string(one) + " 0 0 0 0 0 0 0 0\n");
  probe* const cpu = probe_named("cpu");
  cpu->attached();
  ASSERT_TRUE(cpu->start(*m_to, root().c_str()));
  // Much more than this process can have used in the meantime.
  put("/proc/stat", "cpu" + std::to_string(one) + " 100000 0 0 0 0 0 0 300\n");
  const std::uint64_t begin = base::monotonic_ns();
  const auto used = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double used_before = used();
  while (base::monotonic_ns() - begin < 100'000'000 || used() - used_before < 0.06) {
  }
  cpu->sample(*m_to, 1);
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_NEAR(values("cpu busy").at(0), 100000 * tick, 1e-6);
  EXPECT_NEAR(values("cpu stolen").at(0), 300 * tick, 1e-6);
  const double wall = static_cast<double>(base::monotonic_ns() - begin) * 1e-9;
  EXPECT_GT(values("cpu load of others").at(0), 0.5 * (100000 * tick - wall) / wall);
  EXPECT_GE(values("process cpu").at(0), 0.05);
}

TEST(probe_table, is_what_the_documentation_lists) {
  const auto docs = std::filesystem::path(__FILE__).parent_path() / "../../../docs/reference/counters.md";
  const std::vector<char> bytes = bytes_of(docs.string());
  const std::string text(bytes.begin(), bytes.end());
  ASSERT_FALSE(text.empty()) << docs;
  for (const probe_row* row = probe_table; row->name != nullptr; ++row) {
    const std::string line = std::string("| `") + row->name + "` | " + row->help + " | " + (row->is_default ? "yes" : "no") +
                             " | " + std::to_string(row->period_ms) + " ms |";
    EXPECT_NE(text.find(line), std::string::npos) << "docs/reference/counters.md lacks the line: " << line;
  }
}

TEST_F(probe_test, every_counter_is_in_the_documentation) {
  const auto docs = std::filesystem::path(__FILE__).parent_path() / "../../../docs/reference/counters.md";
  const std::vector<char> bytes = bytes_of(docs.string());
  const std::string text(bytes.begin(), bytes.end());
  for (const probe_row* row = probe_table; row->name != nullptr; ++row)
    if (probe* const each = row->instance(); std::string(row->name) != "energy") {
      each->attached();
      each->start(*m_to, "");
    }
  const names_read known = names();
  EXPECT_GE(known.counters.size(), 5u);
  for (const auto& [id, name] : known.counters) {
    const std::string cell = "| `" + name + "` | " + known.units.at(name) + " |";
    EXPECT_NE(text.find(cell), std::string::npos) << "docs/reference/counters.md lacks: " << cell;
  }
}

}  // namespace
}  // namespace trimtab::observe::testing

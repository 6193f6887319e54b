// The sampler thread and the probes of live threads, on this machine.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "probe_fixture.hpp"
#include "probes/perf.hpp"
#include "probes/proc_file.hpp"
#include "probes/threads.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe::testing {
namespace {

void spin_cpu(std::uint64_t ns) {
  const std::uint64_t begin = base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  while (base::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - begin < ns) {
  }
}

// The sampler wired to a recorder as session does it.
class sampler_test : public ::testing::Test {
 protected:
  void begin(const char* probes, record_level level = record_level::profile) {
    ASSERT_TRUE(becomes_true([] { return sampler_tid() == 0; })) << "the last test's thread must end";
    sampler_after_fork();  // forgets the last test
    sampler_options options;
    options.probes = probes;
    sampler_configure(options);
    m_recorder = std::make_unique<recorder>();
    recorder_options wanted;
    wanted.run_directory = m_run.path().c_str();
    wanted.level = level;
    wanted.lane_opened = sampler_lane_opened;
    wanted.lane_closed = sampler_lane_closed;
    ASSERT_EQ(m_recorder->open(wanted), 0);
  }

  void TearDown() override {
    if (m_recorder == nullptr) return;
    if (t_lane != nullptr) m_recorder->close_lane(*t_lane);
    sampler_stop(*m_recorder);
    // Until it has seen the end, the thread may hold a reference to the recorder.
    EXPECT_TRUE(becomes_true([] { return sampler_tid() == 0; }));
  }

  // Lanes of threads that are not the recorder of the process must be given back by hand.
  template <class function>
  void on_lane(function body) {
    std::thread([&] {
      lane* const mine = m_recorder->open_lane();
      ASSERT_NE(mine, nullptr);
      body(*mine);
      m_recorder->close_lane(*mine);
    }).join();
  }

  names_read names() { return read_names(bytes_of(std::string(m_recorder->directory()) + "/names.tt")); }
  std::vector<sample> samples(const std::string& counter) {
    const names_read known = names();
    std::vector<sample> result;
    for (const sample& entry : records_of<sample>(bytes_of(std::string(m_recorder->directory()) + "/counters.tt")))
      if (known.counters.at(entry.counter) == counter) result.push_back(entry);
    return result;
  }

  // The thread called "trimtab" of this process; 0: none.
  static int sampler_tid() {
    std::error_code gone;  // a thread may end while the list is read
    for (std::filesystem::directory_iterator at("/proc/self/task", gone), end; !gone && at != end; at.increment(gone)) {
      char name[32];
      if (read_file((at->path().string() + "/comm").c_str(), name, sizeof name) > 0 && std::string(name) == "trimtab\n")
        return std::stoi(at->path().filename().string());
    }
    return 0;
  }
  // For what another thread does soon. The limit is only there so that a failure ends.
  template <class predicate>
  static bool becomes_true(predicate holds) {
    for (const std::uint64_t begin = base::monotonic_ns(); base::monotonic_ns() - begin < 20'000'000'000u; sched_yield())
      if (holds()) return true;
    return false;
  }

  scratch_run m_run;
  std::unique_ptr<recorder> m_recorder;
};

TEST_F(sampler_test, starts_with_the_first_lane_and_not_before) {
  begin("none");
  EXPECT_EQ(sampler_tid(), 0);
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  EXPECT_TRUE(becomes_true([] { return sampler_tid() != 0; }));
  const std::uint64_t before = std::atomic_ref(m_recorder->process().last_ticks).load();
  EXPECT_TRUE(becomes_true([&] { return std::atomic_ref(m_recorder->process().last_ticks).load() > before; }));
}

TEST_F(sampler_test, takes_no_signal_of_the_program) {
  begin("none");
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  ASSERT_TRUE(becomes_true([] { return sampler_tid() != 0; }));
  const std::vector<char> bytes = bytes_of("/proc/self/task/" + std::to_string(sampler_tid()) + "/status");
  const std::string status(bytes.begin(), bytes.end());
  const std::size_t at = status.find("SigBlk:");
  ASSERT_NE(at, std::string::npos);
  const std::uint64_t blocked = std::stoull(status.substr(at + 8), nullptr, 16);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF})
    EXPECT_NE(blocked >> (signal - 1) & 1, 0u) << signal;
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0) << "the lane's own mask must be as it was";
}

TEST_F(sampler_test, leaves_the_cpu_of_a_bound_lane) {
  base::cpu_mask all;
  ASSERT_TRUE(base::read_affinity(all));
  if (all.count() < 2) GTEST_SKIP() << "one CPU";
  begin("none");
  std::thread([&] {
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int cpu = 0; CPU_COUNT(&first) == 0; ++cpu)
      if (all.has(static_cast<std::size_t>(cpu))) CPU_SET(cpu, &first);
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    lane* const mine = m_recorder->open_lane();
    ASSERT_NE(mine, nullptr);
    m_recorder->close_lane(*mine);
  }).join();
  ASSERT_TRUE(becomes_true([] { return sampler_tid() != 0; }));
  EXPECT_TRUE(becomes_true([&] {
    cpu_set_t now;
    return sched_getaffinity(sampler_tid(), sizeof now, &now) == 0 && CPU_COUNT(&now) == static_cast<int>(all.count());
  }));
}

TEST_F(sampler_test, stop_writes_last_samples_and_nothing_comes_after_it) {
  begin("threads,memory");
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  sampler_stop(*m_recorder);
  const std::size_t count = samples("resident memory").size();
  EXPECT_GE(count, 1u);
  EXPECT_EQ(samples("process run delay").size(), 1u);
  sampler_stop(*m_recorder);
  EXPECT_TRUE(becomes_true([] { return sampler_tid() == 0; }));
  EXPECT_EQ(samples("resident memory").size(), count);
}

TEST_F(sampler_test, a_program_without_lanes_still_gets_its_run_delay) {
  begin(nullptr);
  sampler_stop(*m_recorder);
  EXPECT_EQ(sampler_tid(), 0);
  EXPECT_EQ(samples("process run delay").size(), 1u);
  EXPECT_EQ(samples("first thread's CPU time").size(), 1u);
}

TEST_F(sampler_test, flush_leaves_it_running) {
  begin("memory");
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  sampler_flush(*m_recorder);
  const std::size_t count = samples("resident memory").size();
  EXPECT_GE(count, 1u);
  EXPECT_TRUE(becomes_true([&] { return samples("resident memory").size() > count; }));
}

TEST_F(sampler_test, tells_of_probes_that_do_not_exist) {
  begin("+cpus,memory");
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  EXPECT_EQ(names().why.at("cpus"), "there is no probe of this name");
  EXPECT_EQ(names().why.count("memory"), 0u);
}

TEST_F(sampler_test, forked_child_has_no_thread_until_it_records) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not let a forked child make threads";
#endif
  begin("threads,switches,memory");
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  ASSERT_TRUE(becomes_true([] { return sampler_tid() != 0; }));
  const pid_t child = fork();
  if (child == 0) {
    sampler_after_fork();
    m_recorder->after_fork();
    if (sampler_tid() != 0) _exit(1);
    if (m_recorder->open_lane() == nullptr) _exit(2);
    if (!becomes_true([] { return sampler_tid() != 0; })) _exit(3);
    spin_cpu(1'000'000);
    sampler_stop(*m_recorder);
    _exit(samples("resident memory").empty() ? 4 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(sampler_tid(), 0);
}

TEST_F(sampler_test, keeps_to_its_share_of_cpu_time) {
  begin(nullptr);
  ASSERT_NE(m_recorder->open_lane(), nullptr);
  const std::uint64_t began = base::monotonic_ns();
  spin_cpu(1'000'000'000);
  const auto used = static_cast<double>(std::atomic_ref(m_recorder->process().sampler_cpu_ns).load());
  // Beside other programs a second of CPU time is many of the clock's.
  const double share = used / static_cast<double>(base::monotonic_ns() - began);
  EXPECT_GT(share, 0.0);
  EXPECT_LT(share, 0.02) << "of one CPU, the first samples included";  // ten times the aim: tests run on loaded machines
}

TEST_F(sampler_test, lane_figures_are_those_of_its_threads_one_after_another) {
  begin("threads");
  std::uint64_t first = 0, second = 0;
  on_lane([&](lane&) { spin_cpu(30'000'000); });
  first = m_recorder->lane_at(0)->header().run_ns;
  on_lane([&](lane& mine) {
    EXPECT_EQ(mine.id(), 0u);
    spin_cpu(20'000'000);
    for (int i = 0; i < 20; ++i) usleep(1000);  // on a loaded machine one may end before its thread has left the CPU
  });
  second = m_recorder->lane_at(0)->header().run_ns;
  EXPECT_GE(first, 30'000'000u);
  EXPECT_LT(first, 200'000'000u);
  EXPECT_GE(second, first + 20'000'000u);
  EXPECT_GE(m_recorder->lane_at(0)->header().voluntary_switches, 1u);
  EXPECT_GE(m_recorder->lane_at(0)->header().time_slices, 2u);
  // Nothing is added for a thread that has gone.
  sampler_flush(*m_recorder);
  EXPECT_EQ(m_recorder->lane_at(0)->header().run_ns, second);
}

// Two threads on one CPU: each is preempted for the other, and both wait for as long as they run.
TEST_F(sampler_test, run_delay_and_preemptions_of_two_threads_on_one_cpu) {
  {
    switch_ring trial;
    if (const int error = trial.open(0)) GTEST_SKIP() << explain_perf(error, "").why;
    trial.close();
  }
  begin("threads,switches");
  const base::ticks begin_ticks = base::now();
  std::atomic<int> ready{0};
  std::atomic<std::uint64_t> delay_at_start{0};  // while they wait for each other, giving the CPU away
  const auto body = [&] {
    base::cpu_mask all;
    base::read_affinity(all);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
      if (all.has(static_cast<std::size_t>(cpu))) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    lane* const mine = m_recorder->open_lane();
    ready += 1;
    while (ready != 2) sched_yield();
    std::uint64_t run_ns = 0, delay_ns = 0;
    std::ifstream("/proc/thread-self/schedstat") >> run_ns >> delay_ns;
    delay_at_start += delay_ns;
    spin_cpu(150'000'000);
    m_recorder->close_lane(*mine);
  };
  std::thread one(body), two(body);
  one.join();
  two.join();
  const base::ticks end_ticks = base::now();
  sampler_stop(*m_recorder);
  std::uint64_t preemptions = 0, outs = 0, ins = 0;
  for (const event& entry : records_of<event>(bytes_of(std::string(m_recorder->directory()) + "/switches.tt"))) {
    EXPECT_TRUE(entry.b == 0 || entry.b == 1);
    EXPECT_GT(entry.ticks, begin_ticks);
    EXPECT_LT(entry.ticks, end_ticks);
    outs += entry.kind == static_cast<std::uint16_t>(event_kind::switch_out) ? 1 : 0;
    ins += entry.kind == static_cast<std::uint16_t>(event_kind::switch_in) ? 1 : 0;
    preemptions += entry.arg;
  }
  std::uint64_t involuntary = 0, delay = 0;
  for (const std::uint32_t id : {0u, 1u}) {
    involuntary += m_recorder->lane_at(id)->header().involuntary_switches;
    delay += m_recorder->lane_at(id)->header().run_delay_ns;
  }
  EXPECT_GE(delay, 100'000'000u);
  EXPECT_GE(preemptions, 4u);
  EXPECT_LE(outs > ins ? outs - ins : ins - outs, 2u);
  // sched_yield may count as either. Each lane's records are drained a little after its figures were read.
  EXPECT_LE(preemptions, involuntary + 8);
  std::map<std::uint32_t, double> last, preempted_s;
  for (const sample& entry : samples("preemptions")) last[entry.lane] = entry.value;
  for (const sample& entry : samples("preempted time")) preempted_s[entry.lane] = entry.value;
  EXPECT_EQ(static_cast<std::uint64_t>(last[0] + last[1]), preemptions);
  const double delay_s = static_cast<double>(delay) * 1e-9;
  EXPECT_GT(preempted_s[0] + preempted_s[1], 0.5 * (delay_s - static_cast<double>(delay_at_start) * 1e-9));
  EXPECT_LT(preempted_s[0] + preempted_s[1], 1.5 * delay_s);
}

TEST(switch_ring, reports_what_did_not_fit) {
  switch_ring ring;
  if (const int error = ring.open(static_cast<std::uint32_t>(gettid()))) GTEST_SKIP() << explain_perf(error, "").why;
  const auto switches = [] {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
  };
  const std::uint64_t before = switches();
  for (int i = 0; i < 3000; ++i) usleep(1);
  std::uint64_t records = 0, lost = 0;
  switch_ring::record entry;
  while (ring.next(entry, lost, ring.end())) records += 1;
  EXPECT_GE(records, 100u);
  // The kernel tells of a loss with the next record that fits again.
  for (int i = 0; i < 3; ++i) usleep(1);
  while (ring.next(entry, lost, ring.end())) records += 1;
  const std::uint64_t expected = 2 * (switches() - before);  // out and in
  EXPECT_GE(expected, 4000u);
  EXPECT_GE(lost + records + 8, expected);
  EXPECT_LE(lost + records, expected + 8);
  EXPECT_GE(lost, 1000u);
  ring.close();
}

// A record that cannot be written may cause the next switch: without an end that is fixed before, this went on for as long
// as the program ran.
TEST(switch_ring, is_read_to_an_end_although_reading_makes_switches) {
  switch_ring ring;
  if (const int error = ring.open(static_cast<std::uint32_t>(gettid()))) GTEST_SKIP() << explain_perf(error, "").why;
  for (int i = 0; i < 20; ++i) usleep(1);
  std::uint64_t records = 0, lost = 0;
  switch_ring::record entry;
  const std::uint64_t end = ring.end();
  while (ring.next(entry, lost, end) && records < 100'000) {
    records += 1;
    usleep(1);
  }
  EXPECT_GE(records, 20u);
  EXPECT_LT(records, 1000u);
  ring.close();
}

TEST(switch_ring, holds_no_descriptor_and_is_not_inherited) {
  const auto descriptors = [] {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += 1;
    return count;
  };
  const int before = descriptors();
  switch_ring ring;
  if (const int error = ring.open(static_cast<std::uint32_t>(gettid()))) GTEST_SKIP() << explain_perf(error, "").why;
  EXPECT_EQ(descriptors(), before);
  ring.close();
}

TEST(hardware_group, survives_a_program_that_closes_its_descriptors) {
  hardware_group group;
  if (const int error = group.open(static_cast<std::uint32_t>(gettid()))) GTEST_SKIP() << explain_perf(error, "").why;
  hardware_reading reading;
  ASSERT_TRUE(group.read(reading));
  spin_cpu(1'000'000);
  hardware_reading later;
  ASSERT_TRUE(group.read(later));
  EXPECT_GT(later.values[0], reading.values[0]);
  close_range(3, 4096, 0);
  EXPECT_FALSE(group.read(later));
  group.close();
}

TEST_F(probe_test, hardware_counters_are_there_or_told_of) {
  probe* const entry = probe_named("hwcounters");
  if (entry->start(*m_to, ""))
    EXPECT_EQ(names().units.count("cycles"), 1u);
  else
    EXPECT_EQ(names().unavailable, std::vector<std::string>{"hardware counters"});
}

TEST_F(probe_test, refusals_of_perf_come_with_their_remedy) {
  put("/proc/sys/kernel/perf_event_paranoid", "4\n");
  EXPECT_STREQ(explain_perf(EACCES, root().c_str()).remedy, "sudo sysctl kernel.perf_event_paranoid=2");
  EXPECT_NE(std::string(explain_perf(EACCES, root().c_str()).why).find("is 4"), std::string::npos);
  put("/proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_NE(std::string(explain_perf(EPERM, root().c_str()).remedy).find("--cap-add PERFMON"), std::string::npos);
  EXPECT_NE(std::string(explain_perf(ENOENT, root().c_str()).why).find("no such counter"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::observe::testing

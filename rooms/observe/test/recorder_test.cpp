#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "scratch_run.hpp"
#include "trimtab/base/topology.hpp"

namespace trimtab::observe::testing {
namespace {

TEST(recorder, opens_a_directory_with_headers_that_say_who_wrote_it) {
  scratch_run run;
  open_recorder recorder(run);
  ASSERT_EQ(recorder.error, 0);
  const auto process = bytes_of(recorder.file("process.tt"));
  ASSERT_EQ(process.size(), header_bytes);
  const file_header head = header_of(process);
  EXPECT_EQ(std::memcmp(head.magic, file_magic, 8), 0);
  EXPECT_EQ(head.version, format_version);
  EXPECT_EQ(head.kind, file_kind::process);
  const auto self = second_header_of<process_header>(process);
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(self.state, process_state::running);
  EXPECT_GT(self.ns_per_tick, 0.0);
  EXPECT_GE(self.cpus_available, 0.01);
  EXPECT_NE(self.command[0], '\0');
}

TEST(recorder, says_why_it_cannot_open_and_stays_off) {
  recorder_options options;
  options.run_directory = "/proc/no-such-directory";
  auto closed = std::make_unique<recorder>();
  EXPECT_NE(closed->open(options), 0);
  EXPECT_FALSE(closed->is_on());
  EXPECT_EQ(closed->open_lane(), nullptr);
}

TEST(recorder, marks_an_orderly_end) {
  scratch_run run;
  open_recorder recorder(run);
  recorder->close(process_state::exited);
  const auto self = second_header_of<process_header>(bytes_of(recorder.file("process.tt")));
  EXPECT_EQ(self.state, process_state::exited);
  EXPECT_GE(self.end_ticks, self.start_ticks);
  EXPECT_GT(self.user_ns + self.system_ns, 0u);
}

TEST(recorder, gives_the_same_subject_for_the_same_place_and_another_for_another) {
  scratch_run run;
  open_recorder recorder(run);
  const int here = 0, there = 0;
  const auto first = recorder->subject(subject_kind::region, &here, false);
  EXPECT_EQ(recorder->subject(subject_kind::region, &here, false), first);
  EXPECT_NE(recorder->subject(subject_kind::loop, &here, false), first);
  EXPECT_NE(recorder->subject(subject_kind::region, &there, false), first);
  const auto named = recorder->named_subject(subject_kind::scope, "solve", "a.c", 3);
  EXPECT_EQ(recorder->named_subject(subject_kind::scope, "solve", "a.c", 3), named);
  EXPECT_NE(recorder->named_subject(subject_kind::scope, "solve", "a.c", 4), named);
}

TEST(recorder, finds_one_subject_when_many_threads_ask_at_once) {
  scratch_run run;
  open_recorder recorder(run);
  static int places[64];
  std::array<std::array<std::uint32_t, 64>, 4> found{};
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 64; ++i)
        mine[static_cast<std::size_t>(i)] = recorder->subject(subject_kind::region, &places[i], false);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& other : found) EXPECT_EQ(other, found[0]);
}

TEST(recorder, writes_names_that_read_back) {
  scratch_run run;
  open_recorder recorder(run);
  const std::size_t before = recorder.next_name();
  recorder->unavailable("hardware counters", "none here", "none");
  recorder->named_subject(subject_kind::scope, "solve", "a.c", 3);
  const auto bytes = bytes_of(recorder.file("names.tt"));
  const file_header head = header_of(bytes);
  ASSERT_GT(head.written, 0u);
  name_unavailable first{};
  std::memcpy(&first, bytes.data() + before, sizeof first);
  EXPECT_EQ(first.head.tag, name_tag::unavailable);
  EXPECT_STREQ(bytes.data() + before + sizeof first, "hardware counters");
  name_subject second{};
  std::memcpy(&second, bytes.data() + before + first.head.bytes, sizeof second);
  EXPECT_EQ(second.head.tag, name_tag::subject);
  EXPECT_EQ(second.line, 3u);
  EXPECT_STREQ(bytes.data() + before + first.head.bytes + sizeof second, "solve");
  EXPECT_EQ(before + first.head.bytes + second.head.bytes, header_bytes + head.written);
}

TEST(recorder, says_which_cpus_the_process_may_use) {
  scratch_run run;
  open_recorder recorder(run);
  char allowed[1024];
  ASSERT_TRUE(base::write_cpu_list(base::allowed_cpus(), allowed, sizeof allowed));
  std::string fact("cpus");
  fact += '\0';
  fact += allowed;
  fact += '\0';
  const auto bytes = bytes_of(recorder.file("names.tt"));
  const std::string names(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_NE(names.find(fact), std::string::npos);
}

TEST(recorder, keeps_the_time_during_which_any_region_is_active) {
  scratch_run run;
  open_recorder recorder(run);
  recorder->parallel_enter(100);
  recorder->parallel_enter(150);
  recorder->parallel_leave(200);
  recorder->parallel_leave(300);
  recorder->parallel_enter(1000);
  recorder->parallel_leave(1010);
  EXPECT_EQ(recorder->process().parallel_ticks, 210u);
}

TEST(recorder, a_forked_child_writes_its_own_directory_and_not_its_parents) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const mine = recorder->open_lane();
  ASSERT_NE(mine, nullptr);
  profile_row* const row = mine->own_row(1, metric::scope);
  const std::string parents = recorder.file("lane-0000.profile");
  const pid_t child = fork();
  if (child == 0) {
    recorder->after_fork();
    lane::add(row, 77);  // a hook of the parent's, still on the stack
    lane* const own = recorder->open_lane();
    const bool is_right = own != nullptr && recorder->process().forked_from == static_cast<std::uint64_t>(getppid());
    if (own != nullptr) lane::add(own->own_row(1, metric::scope), 5);
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(records_of<profile_row>(bytes_of(parents)).at(0).count, 0u);
  const auto childs = folder_of(run, child) + "/lane-0000.profile";
  const auto rows = records_of<profile_row>(bytes_of(childs));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].sum, 5u);
}

TEST(recorder, a_killed_process_leaves_whole_records_up_to_that_instant) {
  scratch_run run;
  const pid_t child = fork();
  if (child == 0) {
    open_recorder recorder(run, record_level::trace);
    lane* const mine = recorder->open_lane();
    for (std::uint64_t i = 0;; ++i) {
      mine->record(event_kind::mark, 7, 0, i, ~i, base::now());
      if (i == 5000) kill(getpid(), SIGKILL);
    }
  }
  waitpid(child, nullptr, 0);
  const auto events = records_of<event>(bytes_of(folder_of(run, child) + "/lane-0000.events"));
  ASSERT_EQ(events.size(), 5002u);  // thread_begin first
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].a, i - 1);
    EXPECT_EQ(events[i].b, ~(i - 1));
  }
}

TEST(recorder, threads_that_come_and_go_share_lanes) {
  scratch_run run;
  open_recorder recorder(run);
  for (int i = 0; i < 200; ++i)
    std::thread([&] {
      lane* const mine = recorder->open_lane();
      mine->record(event_kind::mark, 1, 0, 0, 0, base::now());
      recorder->close_lane(*mine);
    }).join();
  EXPECT_EQ(recorder->lanes(), 1u);
  const auto head = second_header_of<lane_header>(bytes_of(recorder.file("lane-0000.events")));
  EXPECT_EQ(head.threads, 200u);
}

TEST(recorder, many_threads_at_once_have_a_lane_each) {
  scratch_run run;
  open_recorder recorder(run);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  constexpr int count = 50;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      lane* const mine = recorder->open_lane();
      ready += 1;
      while (ready < count) std::this_thread::yield();
      for (int n = 0; n < 100; ++n) lane::add(mine->own_row(1, metric::scope), 1);
      recorder->close_lane(*mine);
    });
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(recorder->lanes(), static_cast<std::uint32_t>(count));
  for (std::uint32_t i = 0; i < recorder->lanes(); ++i) {
    const auto name = "lane-00" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".profile";
    EXPECT_EQ(records_of<profile_row>(bytes_of(recorder.file(name.c_str()))).at(0).count, 100u);
  }
}

// Hooks ask for their lane at each construct: a refusal costs system calls once a thread.
TEST(recorder, a_thread_that_was_given_no_lane_does_not_ask_again) {
  scratch_run run;
  open_recorder recorder(run);
  const std::string names = recorder.file("names.tt");
  const pid_t child = fork();
  if (child == 0) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit tight{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    int wrong = recorder->open_lane() == nullptr ? 0 : 1;
    setrlimit(RLIMIT_FSIZE, &before);
    if (recorder->open_lane() != nullptr) wrong |= 2;
    std::thread([&] {
      lane* const other = recorder->open_lane();  // it has not been refused, and there is room now
      if (other == nullptr) wrong |= 4;
      if (other != nullptr) recorder->close_lane(*other);
    }).join();
    if (access(recorder.file("lane-0001.profile").c_str(), F_OK) == 0) wrong |= 8;  // what was refused left nothing behind
    _exit(wrong);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto bytes = bytes_of(names);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(text.find("some threads"), std::string::npos);
  EXPECT_NE(text.find("limit on the size of files"), std::string::npos);
}

}  // namespace
}  // namespace trimtab::observe::testing

// Lanes that are not threads: CPUs, servers, executors. And more lanes than a usual process has.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "scratch_run.hpp"

namespace trimtab::observe::testing {
namespace {

std::string lane_file(open_recorder& recorder, std::uint32_t lane, const char* ending) {
  std::string name = std::to_string(lane);
  name.insert(0, name.size() < 4 ? 4 - name.size() : 0, '0');
  return recorder.file(("lane-" + name + "." + ending).c_str());
}

std::string names_of(open_recorder& recorder) {
  const auto bytes = bytes_of(recorder.file("names.tt"));
  return {bytes.begin(), bytes.end()};
}

TEST(owned_lane, says_what_it_stands_for) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const cpu = recorder->add_lane(lane_kind::cpu, 3, "CPU 3");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->kind(), lane_kind::cpu);
  EXPECT_TRUE(cpu->is_open());
  const auto head = second_header_of<lane_header>(bytes_of(lane_file(recorder, cpu->id(), "events")));
  EXPECT_EQ(head.kind, lane_kind::cpu);
  EXPECT_EQ(head.number, 3u);
  EXPECT_STREQ(head.title, "CPU 3");
  EXPECT_EQ(head.tid, 0u);
  EXPECT_EQ(head.threads, 0u);
  EXPECT_GT(head.start_ticks, 0u);
  EXPECT_EQ(head.end_ticks, 0u);
}

TEST(owned_lane, a_title_that_is_too_long_is_cut_off) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const server = recorder->add_lane(lane_kind::server, 0, std::string(100, 'x').c_str());
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(std::string(server->header().title), std::string(39, 'x'));
  recorder->end_lane(*server);
  EXPECT_EQ(recorder->add_lane(lane_kind::server, 0, std::string(100, 'x').c_str()), server);
}

TEST(owned_lane, is_given_to_no_thread_and_opened_again_only_for_the_same) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const first = recorder->add_lane(lane_kind::executor, 1, "executor 1");
  recorder->end_lane(*first);
  EXPECT_FALSE(first->is_open());
  EXPECT_GT(first->header().end_ticks, 0u);
  EXPECT_NE(recorder->open_lane(), first);
  EXPECT_NE(recorder->add_lane(lane_kind::executor, 2, "executor 1"), first);
  EXPECT_NE(recorder->add_lane(lane_kind::server, 1, "executor 1"), first);
  EXPECT_NE(recorder->add_lane(lane_kind::executor, 1, "another"), first);
  EXPECT_EQ(recorder->add_lane(lane_kind::executor, 1, "executor 1"), first);
  EXPECT_EQ(first->header().end_ticks, 0u);
  EXPECT_NE(recorder->add_lane(lane_kind::executor, 1, "executor 1"), first);
  EXPECT_EQ(recorder->add_lane(lane_kind::thread, 1, "a thread"), nullptr);
}

TEST(owned_lane, one_thread_at_a_time_writes_it) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const server = recorder->add_lane(lane_kind::server, 0, "server");
  const lane_writer mine(*server);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->id(), server->id());
  std::thread([&] { EXPECT_FALSE(lane_writer(*server)); }).join();
}

// Under TSan as well: nothing but the writers orders what the threads do.
TEST(owned_lane, threads_that_write_in_turn_lose_nothing) {
  scratch_run run;
  open_recorder recorder(run, record_level::profile, std::uint64_t{1} << 30, keep::first, 1 << 15);
  lane* const server = recorder->add_lane(lane_kind::server, 0, "server");
  constexpr std::uint64_t turns = 5000;
  std::array<std::thread, 4> threads;
  for (std::size_t t = 0; t < threads.size(); ++t)
    threads[t] = std::thread([&, t] {
      for (std::uint64_t done = 0; done < turns;) {
        const lane_writer writer(*server);
        if (!writer) {
          std::this_thread::yield();
          continue;
        }
        writer->record(event_kind::mark, static_cast<std::uint32_t>(t), 0, done, 0, base::now());
        lane::add(writer->own_row(static_cast<std::uint32_t>(t + done % 100 * 10), metric::scope), 1);
        done += 1;
      }
    });
  for (std::thread& each : threads) each.join();
  std::array<std::uint64_t, 4> next{};
  for (const event& each : records_of<event>(bytes_of(lane_file(recorder, server->id(), "events"))))
    EXPECT_EQ(each.a, next[each.subject]++);
  for (const std::uint64_t each : next) EXPECT_EQ(each, turns);
  std::uint64_t sum = 0;
  for (const profile_row& row : records_of<profile_row>(bytes_of(lane_file(recorder, server->id(), "profile"))))
    sum += row.sum;
  EXPECT_EQ(sum, 4 * turns);
}

TEST(owned_lane, a_forked_child_has_none_until_it_asks) {
  scratch_run run;
  open_recorder recorder(run);
  lane* const server = recorder->add_lane(lane_kind::server, 0, "server");
  const std::string events = lane_file(recorder, server->id(), "events");
  const pid_t child = fork();
  if (child == 0) {
    recorder->after_fork();
    server->record(event_kind::mark, 1, 0, 0, 0, 1);  // of the parent's lane: must not reach its file
    lane* const own = recorder->add_lane(lane_kind::server, 0, "server");
    _exit(own != nullptr && own != server && own->id() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(header_of(bytes_of(events)).written, 0u);
}

// Making and removing ten thousand files on a disk may take half a minute.
const char* folder_in_memory() { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ""; }

TEST(owned_lane, five_thousand_lanes_with_a_row_about_each_survive_a_kill) {
  scratch_run run(folder_in_memory());
  constexpr std::uint32_t count = 5000;
  const pid_t child = fork();
  if (child == 0) {
    open_recorder recorder(run);
    lane* const first = recorder->add_lane(lane_kind::executor, 0, "executor 0");
    for (std::uint32_t i = 1; i < count; ++i) {
      lane* const each = recorder->add_lane(lane_kind::executor, i, ("executor " + std::to_string(i)).c_str());
      if (each == nullptr || each->id() != i) _exit(1);
      each->record(event_kind::mark, 1, 0, i, 0, base::now());
      lane::add(first->row(1, metric::team, each->id(), no_subject), i);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::string folder = folder_of(run, child);
  const auto rows = records_of<profile_row>(bytes_of(folder + "/lane-0000.profile"));
  ASSERT_EQ(rows.size(), count - 1);
  for (std::uint32_t i = 1; i < count; ++i) {
    EXPECT_EQ(rows[i - 1].about, i);
    EXPECT_EQ(rows[i - 1].sum, i);
  }
  EXPECT_EQ(records_of<event>(bytes_of(folder + "/lane-4999.events")).at(0).a, 4999u);
  EXPECT_EQ(second_header_of<lane_header>(bytes_of(folder + "/lane-4999.events")).number, 4999u);
}

TEST(owned_lane, says_how_many_lanes_there_may_be_when_there_are_more) {
  scratch_run run;
  open_recorder recorder(run, record_level::profile, std::uint64_t{1} << 30, keep::first, 4096, 3);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_NE(recorder->add_lane(lane_kind::cpu, i, "CPU"), nullptr);
  EXPECT_EQ(recorder->add_lane(lane_kind::cpu, 3, "CPU"), nullptr);
  std::thread([&] { EXPECT_EQ(recorder->open_lane(), nullptr); }).join();
  const std::string names = names_of(recorder);
  const std::size_t at = names.find("expected at most 3 lanes in a process, found more");
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(names.find("expected at most 3 lanes", at + 1), std::string::npos) << "once";
}

}  // namespace
}  // namespace trimtab::observe::testing

// From records of several CPUs to the files of a run directory.
#include "scheduler_recording.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "account_files.hpp"
#include "record_samples.hpp"
#include "scratch_folder.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::kernel {

namespace {

using namespace samples;

constexpr process_number launcher = 500;

template <class value>
value part_of(const std::string& bytes, std::size_t offset) {
  value result;
  std::memcpy(&result, bytes.data() + offset, sizeof result);
  return result;
}

template <class record>
std::vector<record> records_in(const std::string& path, observe::file_kind kind) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < observe::header_bytes) return {};
  const auto head = part_of<observe::file_header>(bytes, 0);
  EXPECT_EQ(std::memcmp(head.magic, observe::file_magic, sizeof head.magic), 0);
  EXPECT_EQ(head.kind, kind);
  EXPECT_EQ(head.record_bytes, sizeof(record));
  EXPECT_GE(bytes.size(), observe::header_bytes + head.written * sizeof(record));
  std::vector<record> found;
  for (std::size_t at = 0; at < head.written; ++at)
    found.push_back(part_of<record>(bytes, observe::header_bytes + at * sizeof(record)));
  return found;
}

observe::scheduler_header header_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return part_of<observe::scheduler_header>(bytes, sizeof(observe::file_header));
}

// The launcher makes thread 600, a hog keeps it from running on CPU 0, and it ends.
void add_records(scheduler_recording& recording) {
  const auto add = [&](std::size_t source, const bytes& raw, const sample_head& head) {
    recording.add(source, sample_of(raw, head));
  };
  add(1, raw_fork(600, launcher), {launcher, launcher, 100, 1});
  add(1, raw_wakeup(373, 0, 600, 0), {launcher, launcher, 110, 1});
  add(0, raw_switch(77, 0, 600, "hog", "program"), {77, 77, 150, 0});
  add(0, raw_switch(600, 0, 77, "program", "hog"), {600, 600, 170, 0});
  add(0, raw_switch(77, 1, 600, "hog", "program"), {77, 77, 230, 0});
  add(0, raw_switch(600, 0x10, 0, "program", "swapper/0"), {600, 600, 250, 0});
}

scheduler_recording new_recording() { return {texts().decoder(), {0, 1}, 50, launcher}; }

const observe::scheduler_thread* thread_named(const std::vector<observe::scheduler_thread>& all, const char* name) {
  for (const auto& one : all)
    if (std::strcmp(one.name, name) == 0) return &one;
  return nullptr;
}

}  // namespace

TEST(scheduler_recording, writes_who_ran_and_who_kept_whom_waiting) {
  const scratch_folder folder;
  scheduler_recording recording = new_recording();
  add_records(recording);
  recording.end(300);
  ASSERT_EQ(write_account(folder.path(), recording,
                          {.host = "here", .watched = launcher, .recorder = 9, .recorder_cpu_ns = 5, .is_ended = true}),
            0);
  const auto threads =
      records_in<observe::scheduler_thread>(folder.path() + "/threads.tt", observe::file_kind::scheduler_threads);
  const observe::scheduler_thread *const program = thread_named(threads, "program"), *const hog =
                                                                                         thread_named(threads, "hog");
  ASSERT_NE(program, nullptr);
  ASSERT_NE(hog, nullptr);
  EXPECT_EQ(program->pid, 600u);
  EXPECT_EQ(program->flags, observe::scheduler_thread_flags::watched);
  EXPECT_EQ(hog->flags, 0u);
  EXPECT_STREQ(program->program, "program");
  EXPECT_EQ(program->running_ns, 40u);
  EXPECT_EQ(hog->running_ns, 100u + 60u) << "since the beginning";
  EXPECT_EQ(program->woken_ns, 40u);
  EXPECT_EQ(program->preempted_ns, 60u);
  EXPECT_EQ(program->voluntary_switches, 1u);
  EXPECT_EQ(program->involuntary_switches, 1u);

  const auto charges =
      records_in<observe::scheduler_charge>(folder.path() + "/charges.tt", observe::file_kind::scheduler_charges);
  std::uint64_t after_wake_up = 0, after_preemption = 0, woke = 0;
  for (const auto& one : charges) {
    ASSERT_GE(one.waiter, 1u);
    ASSERT_LE(one.waiter, threads.size());
    if (&threads[one.waiter - 1] != program) continue;
    if (one.kind == observe::scheduler_charge_kind::woke) {
      woke += one.ns;
      EXPECT_EQ(threads[one.other - 1].pid, launcher);
      continue;
    }
    EXPECT_EQ(&threads[one.other - 1], hog);
    (one.kind == observe::scheduler_charge_kind::ran_after_wake_up ? after_wake_up : after_preemption) += one.ns;
  }
  EXPECT_EQ(after_wake_up, 40u);
  EXPECT_EQ(after_preemption, 60u);
  EXPECT_EQ(woke, 40u);

  const auto delays =
      records_in<observe::scheduler_delay>(folder.path() + "/delays.tt", observe::file_kind::scheduler_delays);
  std::uint64_t waits = 0;
  for (const auto& one : delays)
    if (&threads[one.thread - 1] == program) waits += one.count;
  EXPECT_EQ(waits, 2u);

  const observe::scheduler_header head = header_in(folder.path() + "/threads.tt");
  EXPECT_EQ(head.begin_ns, 50u);
  EXPECT_EQ(head.end_ns, 300u);
  EXPECT_EQ(head.is_ended, 1u);
  EXPECT_EQ(head.cpus, 2u);
  EXPECT_EQ(head.events, 6u);
  EXPECT_EQ(head.busy_ns, 200u);
  EXPECT_EQ(head.idle_ns, 50u);
  EXPECT_STREQ(head.host, "here");
}

TEST(scheduler_recording, counts_only_what_is_old_enough) {
  scheduler_recording recording = new_recording();
  add_records(recording);
  recording.count_until(160);
  EXPECT_EQ(recording.account().now_ns(), 150u);
  recording.count_until(240);
  EXPECT_EQ(recording.account().now_ns(), 230u);
}

TEST(scheduler_recording, keeps_events_as_long_as_there_is_room) {
  const scratch_folder folder;
  const std::string path = folder.path() + "/events.tt";
  scheduler_recording recording = new_recording();
  ASSERT_EQ(recording.keep_events(path, 3 * sizeof(observe::scheduler_event)), 0);
  add_records(recording);
  recording.end(300);
  const auto events = records_in<observe::scheduler_event>(path, observe::file_kind::scheduler_events);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, observe::scheduler_event_kind::woken);
  EXPECT_EQ(events[1].kind, observe::scheduler_event_kind::switched);
  EXPECT_EQ(events[1].time_ns, 150u);
  EXPECT_EQ(events[1].can_run, 1u);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(part_of<observe::file_header>(bytes, 0).dropped, 2u);
}

TEST(scheduler_recording, a_folder_that_is_not_there_is_an_error) {
  EXPECT_EQ(write_account("/no such folder", new_recording(), {}), ENOENT);
}

}  // namespace trimtab::kernel

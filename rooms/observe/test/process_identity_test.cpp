// What tells a process from all others of a run: host, start, rank. A second host, a number that is given out again, an exec
// and a fork are four different things.
#include "process_identity.hpp"

#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "probe_fixture.hpp"

namespace trimtab::observe::testing {
namespace {

using facts = std::map<std::string, std::string>;

facts facts_in(const std::string& folder) { return read_names(bytes_of(folder + "/names.tt")).facts; }

// A recorder as the library of a process opens it.
std::unique_ptr<recorder> opened(const scratch_run& run, std::int64_t rank = -1, std::int64_t size = -1) {
  recorder_options options;
  options.run_directory = run.path().c_str();
  options.rank = rank;
  options.job_size = size;
  auto made = std::make_unique<recorder>();
  EXPECT_EQ(made->open(options), 0);
  return made;
}

TEST(process_identity, start_is_found_behind_any_name) {
  const std::string fields = " R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
  EXPECT_EQ(start_in(("12 (app)" + fields).c_str()), 4711u);
  EXPECT_EQ(start_in(("12 (a) b) 1 (c)" + fields).c_str()), 4711u);
  EXPECT_EQ(start_in("12 (app) R 1 2"), 0u);
  EXPECT_EQ(start_in(""), 0u);
}

TEST(process_identity, the_name_for_files_is_the_first_part_of_the_hosts) {
  utsname system;
  ASSERT_EQ(uname(&system), 0);
  const std::string whole = system.nodename, plain = file_host_name().text;
  EXPECT_EQ(plain.size(), std::min<std::size_t>(whole.find('.'), whole.size()));
  EXPECT_EQ(plain.find_first_of("/. "), std::string::npos);
}

TEST(process_identity, is_written_before_the_process_counts_as_begun) {
  scratch_run run;
  const auto made = opened(run, 2, 4);
  EXPECT_EQ(made->directory(), folder_of(run, getpid()));
  const facts found = facts_in(made->directory());
  utsname system;
  ASSERT_EQ(uname(&system), 0);
  EXPECT_EQ(found.at("host"), system.nodename);
  EXPECT_EQ(found.at("rank"), "2");
  EXPECT_EQ(found.at("size"), "4");
  EXPECT_GT(std::stoull(found.at("process start")), 0u);
}

TEST(process_identity, what_is_not_known_is_not_written) {
  scratch_run run;
  const facts alone = facts_in(opened(run)->directory());
  EXPECT_EQ(alone.count("rank") + alone.count("size"), 0u);
  const facts ranked = facts_in(opened(run, 0)->directory());
  EXPECT_EQ(ranked.at("rank"), "0");
  EXPECT_EQ(ranked.count("size"), 0u);
}

TEST(process_identity, a_second_image_has_a_folder_of_its_own_and_the_same_start) {
  scratch_run run;
  const auto first = opened(run), second = opened(run);
  EXPECT_STRNE(first->directory(), second->directory());
  EXPECT_EQ(facts_in(first->directory()).at("process start"), facts_in(second->directory()).at("process start"));
}

TEST(process_identity, a_forked_child_has_the_rank_and_its_own_number) {
  scratch_run run;
  const auto parent = opened(run, 3, 4);
  const pid_t child = fork();
  if (child == 0) {
    parent->after_fork();
    _exit(parent->open_lane() != nullptr ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(facts_in(folder_of(run, child)).at("rank"), "3");
}

}  // namespace
}  // namespace trimtab::observe::testing

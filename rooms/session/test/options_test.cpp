#include "options.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace trimtab::session {
namespace {

std::map<std::string, std::string> variables;
const char* look_up(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}
options read(std::map<std::string, std::string> from) {
  variables = std::move(from);
  return read_options(look_up);
}

TEST(options, nothing_is_steered_unasked) {
  const options none = read({});
  EXPECT_EQ(none.steering.how, tune::off);
  EXPECT_EQ(none.steering.settings, nullptr);
  EXPECT_EQ(none.wrong_name, nullptr);
  EXPECT_EQ(read({{"TRIMTAB_TUNE", ""}}).steering.how, tune::off);
}

TEST(options, of_steering_are_read) {
  const options all = read({{"TRIMTAB_TUNE", "frozen"},
                            {"TRIMTAB_SETTINGS", "/tmp/s"},
                            {"TRIMTAB_SEARCH", "hill-climbing"},
                            {"TRIMTAB_STEER_POLICY", "arcs-offline"},
                            {"TRIMTAB_BUDGET", "10"},
                            {"TRIMTAB_SEED", "18446744073709551615"}});
  EXPECT_EQ(all.wrong_name, nullptr);
  EXPECT_EQ(all.steering.how, tune::frozen);
  EXPECT_STREQ(all.steering.settings, "/tmp/s");
  EXPECT_EQ(all.steering.search, steer::search_kind::hill_climbing);
  EXPECT_EQ(all.steering.policy, steer_policy::arcs_offline);
  EXPECT_EQ(all.steering.budget_percent, 10u);
  EXPECT_EQ(all.steering.seed, ~std::uint64_t{0});
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "shuffle"}}).steering.how, tune::shuffle);
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "known"}}).steering.how, tune::frozen);
}

TEST(options, snapshots_are_recorded_only_when_asked_for) {
  EXPECT_FALSE(read({}).recorder.has_snapshots);
  EXPECT_FALSE(read({{"TRIMTAB_RECORD_SNAPSHOTS", "0"}}).recorder.has_snapshots);
  EXPECT_TRUE(read({{"TRIMTAB_RECORD_SNAPSHOTS", "1"}}).recorder.has_snapshots);
  EXPECT_STREQ(read({{"TRIMTAB_RECORD_SNAPSHOTS", "yes"}}).wrong_name, "TRIMTAB_RECORD_SNAPSHOTS");
}

std::pair<std::int64_t, std::int64_t> rank_and_size(std::map<std::string, std::string> from) {
  const options all = read(std::move(from));
  EXPECT_EQ(all.wrong_name, nullptr);
  return {all.recorder.rank, all.recorder.job_size};
}

using place = std::pair<std::int64_t, std::int64_t>;

TEST(options, a_rank_is_what_its_launcher_says) {
  EXPECT_EQ(rank_and_size({}), place(-1, -1));
  EXPECT_EQ(rank_and_size({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), place(3, 4));
  EXPECT_EQ(rank_and_size({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), place(0, 2));
  EXPECT_EQ(rank_and_size({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "a"}}), place(1, -1));
  EXPECT_EQ(rank_and_size({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}}), place(1, 8));
}

TEST(options, the_innermost_launcher_counts) {
  EXPECT_EQ(rank_and_size({{"OMPI_COMM_WORLD_RANK", "3"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"SLURM_PROCID", "1"},
                           {"SLURM_STEP_NUM_TASKS", "2"},
                           {"SLURM_STEP_ID", "0"}}),
            place(3, 4));
}

TEST(options, a_batch_script_of_slurm_is_no_rank) {
  EXPECT_EQ(rank_and_size({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}), place(-1, -1));
}

TEST(options, nonsense_of_launchers_is_passed_over) {
  EXPECT_EQ(rank_and_size({{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}}), place(-1, -1));
  EXPECT_EQ(rank_and_size({{"PMIX_RANK", "4294967295"}, {"PMIX_NAMESPACE", "a"}}), place(-1, -1));
  EXPECT_EQ(rank_and_size({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), place(2, -1));
  EXPECT_EQ(rank_and_size({{"PMI_RANK", "2"}, {"PMI_SIZE", "many"}}), place(2, -1));
}

TEST(options, of_threads_are_a_consent_of_their_own) {
  EXPECT_FALSE(read({}).steering.is_on());
  const options fitted = read({{"TRIMTAB_THREADS", "fit"}, {"XDG_RUNTIME_DIR", "/run/me"}});
  EXPECT_EQ(fitted.steering.threads, thread_policy::fit);
  EXPECT_EQ(fitted.steering.how, tune::off);
  EXPECT_TRUE(fitted.steering.is_on());
  EXPECT_STREQ(fitted.steering.runtime_directory, "/run/me");
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v1"}}).steering.threads, thread_policy::asat_v1);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2"}}).steering.threads, thread_policy::asat_v2);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2"}}).steering.thread_tunables, "");
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v1-timed"}}).steering.threads, thread_policy::asat_v1_timed);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2-reset"}}).steering.threads, thread_policy::asat_v2_reset);
  const options tuned = read({{"TRIMTAB_THREADS", "asat-v2:bad_trig=1,good_trig=10"}});
  EXPECT_EQ(tuned.steering.threads, thread_policy::asat_v2);
  EXPECT_EQ(tuned.steering.thread_tunables, "bad_trig=1,good_trig=10");
  EXPECT_STREQ(read({{"TRIMTAB_THREADS", "regions:bad_trig=1"}}).wrong_name, "TRIMTAB_THREADS") << "it has none";
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "on"}}).steering.threads, thread_policy::off);
  EXPECT_FALSE(fitted.steering.is_even_if_fixed);
  EXPECT_TRUE(read({{"TRIMTAB_THREADS_EVEN_IF_FIXED", "1"}}).steering.is_even_if_fixed);
}

TEST(options, a_policy_may_be_a_file) {
  const options read_anyway = read({{"TRIMTAB_STEER_POLICY", "/home/me/mine.py"}});
  EXPECT_EQ(read_anyway.wrong_name, nullptr);
  EXPECT_EQ(read_anyway.steering.policy, steer_policy::outside);
  EXPECT_STREQ(read_anyway.steering.policy_file, "/home/me/mine.py");
  EXPECT_NE(read({{"TRIMTAB_STEER_POLICY", ".py"}}).wrong_name, nullptr);
}

TEST(options, how_threads_wait_may_be_the_users) {
  EXPECT_FALSE(read({}).steering.is_waiting_set);
  for (const char* const each : {"KMP_BLOCKTIME", "KMP_LIBRARY", "OMP_WAIT_POLICY"})
    EXPECT_TRUE(read({{each, "0"}}).steering.is_waiting_set) << each;
}

TEST(options, what_is_not_understood_is_named_and_keeps_its_default) {
  const std::pair<const char*, const char*> wrong[] = {{"TRIMTAB_TUNE", "yes"},
                                                       {"TRIMTAB_SEARCH", "genetic"},
                                                       {"TRIMTAB_BUDGET", "101"},
                                                       {"TRIMTAB_BUDGET", "3%"},
                                                       {"TRIMTAB_SEED", "-1"},
                                                       {"TRIMTAB_LEVEL", "all"},
                                                       {"TRIMTAB_SAMPLE_MS", "0"},
                                                       {"TRIMTAB_FOLLOW", "no"},
                                                       {"TRIMTAB_MAX_TRACE", "10K"},
                                                       {"TRIMTAB_KEEP", "newest"},
                                                       {"TRIMTAB_STEER_POLICY", "arcs"},
                                                       {"TRIMTAB_THREADS", "4"},
                                                       {"TRIMTAB_THREADS_EVEN_IF_FIXED", "yes"}};
  for (const auto& [name, value] : wrong) {
    const options read_anyway = read({{name, value}});
    ASSERT_NE(read_anyway.wrong_name, nullptr) << name;
    EXPECT_STREQ(read_anyway.wrong_name, name);
    EXPECT_STREQ(read_anyway.wrong_value, value);
    EXPECT_FALSE(read_anyway.steering.is_on());
    EXPECT_EQ(read_anyway.steering.budget_percent, 3u);
    EXPECT_EQ(read_anyway.steering.search, steer::search_kind::diagnosed);
  }
}

}  // namespace
}  // namespace trimtab::session

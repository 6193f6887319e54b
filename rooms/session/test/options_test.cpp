#include "options.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace trimtab::session {
namespace {

std::map<std::string, std::string> variables;
const char* look_up(const options::option& option_row) {
  const auto match = variables.find(option_row.variable);
  return match == variables.end() ? nullptr : match->second.c_str();
}
library_options read(std::map<std::string, std::string> from) {
  variables = std::move(from);
  return read_options(look_up);
}

TEST(options, nothing_is_steered_unasked) {
  const library_options none = read({});
  EXPECT_EQ(none.steering.how, tuning_mode::off);
  EXPECT_EQ(none.steering.settings, nullptr);
  EXPECT_EQ(none.wrong.of, nullptr);
  EXPECT_EQ(read({{"TRIMTAB_TUNE", ""}}).steering.how, tuning_mode::off);
}

TEST(options, of_steering_are_read) {
  const library_options all = read({{"TRIMTAB_TUNE", "frozen"},
                                    {"TRIMTAB_SETTINGS", "/tmp/s"},
                                    {"TRIMTAB_SEARCH", "hill-climbing"},
                                    {"TRIMTAB_STEER_POLICY", "arcs-offline"},
                                    {"TRIMTAB_BUDGET", "10"},
                                    {"TRIMTAB_SEED", "18446744073709551615"}});
  EXPECT_EQ(all.wrong.of, nullptr);
  EXPECT_EQ(all.steering.how, tuning_mode::frozen);
  EXPECT_STREQ(all.steering.settings, "/tmp/s");
  EXPECT_EQ(all.steering.search, steer::search_kind::hill_climbing);
  EXPECT_EQ(all.steering.policy, steer_policy::arcs_offline);
  EXPECT_EQ(all.steering.budget_percent, 10u);
  EXPECT_EQ(all.steering.seed, ~std::uint64_t{0});
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "shuffle"}}).steering.how, tuning_mode::shuffle);
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "known"}}).steering.how, tuning_mode::known);
}

TEST(options, without_a_search_of_the_program_known_is_as_frozen) {
  for (const char* const mode : {"known", "frozen"}) {
    const steering_options chosen = read({{"TRIMTAB_TUNE", mode}}).steering;
    EXPECT_TRUE(chosen.has_settings_only() && chosen.has_rules_of_ours() && chosen.is_on()) << mode;
  }
  for (const char* const mode : {"off", "on", "shuffle"})
    EXPECT_FALSE(read({{"TRIMTAB_TUNE", mode}}).steering.has_settings_only()) << mode;
}

TEST(options, snapshots_are_recorded_only_when_asked_for) {
  EXPECT_FALSE(read({}).recorder.has_snapshots);
  EXPECT_FALSE(read({{"TRIMTAB_RECORD_SNAPSHOTS", "0"}}).recorder.has_snapshots);
  EXPECT_TRUE(read({{"TRIMTAB_RECORD_SNAPSHOTS", "1"}}).recorder.has_snapshots);
  EXPECT_STREQ(read({{"TRIMTAB_RECORD_SNAPSHOTS", "yes"}}).wrong.of->variable, "TRIMTAB_RECORD_SNAPSHOTS");
}

std::pair<std::int64_t, std::int64_t> rank_and_size(std::map<std::string, std::string> from) {
  const library_options all = read(std::move(from));
  EXPECT_EQ(all.wrong.of, nullptr);
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
  const library_options fitted = read({{"TRIMTAB_THREADS", "fit"}, {"XDG_RUNTIME_DIR", "/run/me"}});
  EXPECT_EQ(fitted.steering.threads, thread_policy::fit);
  EXPECT_EQ(fitted.steering.how, tuning_mode::off);
  EXPECT_TRUE(fitted.steering.is_on());
  EXPECT_STREQ(fitted.steering.runtime_directory, "/run/me");
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v1"}}).steering.threads, thread_policy::asat_v1);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2"}}).steering.threads, thread_policy::asat_v2);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2"}}).steering.thread_tunables, "");
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v1-timed"}}).steering.threads, thread_policy::asat_v1_timed);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "asat-v2-reset"}}).steering.threads, thread_policy::asat_v2_reset);
  const library_options tuned = read({{"TRIMTAB_THREADS", "asat-v2:bad_trig=1,good_trig=10"}});
  EXPECT_EQ(tuned.steering.threads, thread_policy::asat_v2);
  EXPECT_EQ(tuned.steering.thread_tunables, "bad_trig=1,good_trig=10");
  EXPECT_STREQ(read({{"TRIMTAB_THREADS", "regions:bad_trig=1"}}).wrong.of->variable, "TRIMTAB_THREADS") << "it has none";
  EXPECT_EQ(read({{"TRIMTAB_TUNE", "on"}}).steering.threads, thread_policy::off);
  EXPECT_FALSE(fitted.steering.is_even_if_fixed);
  EXPECT_TRUE(read({{"TRIMTAB_THREADS_EVEN_IF_FIXED", "1"}}).steering.is_even_if_fixed);
}

TEST(options, a_policy_may_be_a_file) {
  const library_options read_anyway = read({{"TRIMTAB_STEER_POLICY", "/home/me/mine.py"}});
  EXPECT_EQ(read_anyway.wrong.of, nullptr);
  EXPECT_EQ(read_anyway.steering.policy, steer_policy::outside);
  EXPECT_STREQ(read_anyway.steering.policy_file, "/home/me/mine.py");
  EXPECT_NE(read({{"TRIMTAB_STEER_POLICY", ".py"}}).wrong.of, nullptr);
}

TEST(options, how_threads_wait_may_be_the_users) {
  EXPECT_FALSE(read({}).steering.is_waiting_set);
  for (const char* const each : {"KMP_BLOCKTIME", "KMP_LIBRARY", "OMP_WAIT_POLICY"})
    EXPECT_TRUE(read({{each, "0"}}).steering.is_waiting_set) << each;
}

TEST(options, words_are_in_the_order_of_what_they_mean) {
  using observe::record_level;
  const std::pair<const char*, record_level> levels[] = {{"off", record_level::off},
                                                         {"idle", record_level::idle},
                                                         {"profile", record_level::profile},
                                                         {"trace", record_level::trace}};
  for (const auto& [word, level] : levels) EXPECT_EQ(read({{"TRIMTAB_LEVEL", word}}).recorder.level, level) << word;
  EXPECT_EQ(read({{"TRIMTAB_KEEP", "last"}}).recorder.kept, observe::keep::last);
  EXPECT_EQ(read({{"TRIMTAB_KEEP", "first"}}).recorder.kept, observe::keep::first);
  EXPECT_EQ(read({{"TRIMTAB_THREADS", "regions"}}).steering.threads, thread_policy::regions);
  EXPECT_EQ(read({{"TRIMTAB_STEER_POLICY", "arcs-online"}}).steering.policy, steer_policy::arcs_online);
  for (const steer::search_kind search : steer::all_searches)
    EXPECT_EQ(read({{"TRIMTAB_SEARCH", std::string(steer::name_of(search))}}).steering.search, search);
}

// One where each is not the default.
TEST(options, every_row_sets_something) {
  const library_options all = read({{"TRIMTAB_RUN", "/r"},
                                    {"TRIMTAB_MAX_TRACE", "5"},
                                    {"TRIMTAB_PROBES", "+cpu,made-up"},
                                    {"TRIMTAB_SAMPLE_MS", "20"},
                                    {"TRIMTAB_FOLLOW", "0"},
                                    {"TRIMTAB_VIRTUAL_THREADS", "/v"},
                                    {"TRIMTAB_USERS_VALUES", "OMP_PLACES"},
                                    {"TRIMTAB_INTERLEAVE", "1"},
                                    {"OMP_TOOL_LIBRARIES", "tool.so"}});
  EXPECT_EQ(all.wrong.of, nullptr) << "the sampler reports probes that it does not know";
  EXPECT_STREQ(all.recorder.run_directory, "/r");
  EXPECT_EQ(all.recorder.max_trace_bytes, 5u);
  EXPECT_STREQ(all.sampler.probes, "+cpu,made-up");
  EXPECT_EQ(all.sampler.period_ms, 20u);
  EXPECT_FALSE(all.is_follow);
  EXPECT_STREQ(all.users_values, "OMP_PLACES");
  EXPECT_TRUE(all.is_interleaved);
  EXPECT_STREQ(all.steering.virtual_threads, "/v");
  EXPECT_TRUE(all.is_other_ompt_tool);
}

TEST(options, defaults_are_those_of_the_table) {
  const library_options none = read({}), usual;
  EXPECT_EQ(none.recorder.level, observe::record_level::profile);
  EXPECT_EQ(none.recorder.max_trace_bytes, usual.recorder.max_trace_bytes);
  EXPECT_EQ(none.sampler.period_ms, usual.sampler.period_ms);
  EXPECT_TRUE(none.is_follow);
  EXPECT_FALSE(none.is_other_ompt_tool);
  for (const auto& option_row : library_table())
    EXPECT_TRUE(option_row.standard[0] == '\0' || options::check(option_row.allowed, option_row.standard))
        << option_row.variable;
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
    const library_options read_anyway = read({{name, value}});
    ASSERT_NE(read_anyway.wrong.of, nullptr) << name;
    EXPECT_STREQ(read_anyway.wrong.of->variable, name);
    EXPECT_STREQ(read_anyway.wrong.text, value);
    EXPECT_FALSE(read_anyway.steering.is_on());
    EXPECT_EQ(read_anyway.steering.budget_percent, 3u);
    EXPECT_EQ(read_anyway.steering.search, steer::search_kind::diagnosed);
  }
}

}  // namespace
}  // namespace trimtab::session

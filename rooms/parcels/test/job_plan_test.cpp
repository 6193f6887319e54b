#include "job/job_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "job/option_table.hpp"
#include "trimtab/parcels.hpp"

namespace trimtab::parcels {

namespace {

using environment = std::map<std::string, std::string>;

environment job_environment;
const char* look_up_in_test(const options::option& option_row) {
  const auto match = job_environment.find(option_row.variable);
  return match == job_environment.end() ? nullptr : match->second.c_str();
}
job_plan plan_with(environment variables, const job_options& program = {}) {
  job_environment = std::move(variables);
  return plan_job(program, look_up_in_test);
}
std::string refusal_of(environment variables) {
  try {
    plan_with(std::move(variables));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}
environment with(environment variables, const environment& others) {
  for (const auto& [name, text] : others) variables[name] = text;
  return variables;
}

const environment shm_environment = {{"TRIMTAB_JOB_RANK", "2"},
                                     {"TRIMTAB_JOB_SIZE", "4"},
                                     {"TRIMTAB_JOB_SECRET", "abc"},
                                     {"TRIMTAB_JOB_PATH", "/proc/7/fd/5"}};
const environment tcp_environment = {{"TRIMTAB_JOB_RANK", "0"},
                                     {"TRIMTAB_JOB_SIZE", "4"},
                                     {"TRIMTAB_JOB_MEETING", "127.0.0.1:4711"},
                                     {"TRIMTAB_JOB_SOCKET", "9"}};
const environment open_mpi_environment = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};

}  // namespace

TEST(job_plan, alone_is_a_job_of_one) {
  const job_plan plan = plan_with({});
  EXPECT_EQ(plan.transport, job_transport::none);
  EXPECT_EQ(plan.self.size, 1u);
  EXPECT_EQ(plan.options.standard, coalescing{});
}

TEST(job_plan, shared_memory_is_what_the_launcher_says) {
  const job_plan plan =
      plan_with(with(shm_environment, {{"TRIMTAB_JOB_PATIENCE", "7"}, {"TRIMTAB_JOB_RING_BYTES", "65536"}}));
  EXPECT_EQ(plan.transport, job_transport::shm);
  EXPECT_EQ(plan.self.number, 2u);
  EXPECT_EQ(plan.self.size, 4u);
  EXPECT_EQ(plan.self.secret, "abc");
  EXPECT_EQ(plan.self.patience_ns, 7'000'000'000u);
  EXPECT_EQ(plan.shm.path, "/proc/7/fd/5");
  EXPECT_EQ(plan.shm.ring_bytes, 65536u);
  EXPECT_EQ(plan.local_size, 4u);
}

TEST(job_plan, tcp_has_a_meeting_and_only_locality_0_its_socket) {
  const job_plan first = plan_with(tcp_environment);
  EXPECT_EQ(first.transport, job_transport::tcp);
  EXPECT_EQ(first.tcp.meeting_address, "127.0.0.1");
  EXPECT_EQ(first.tcp.meeting_port, 4711);
  EXPECT_EQ(first.tcp.meeting_socket, 9);
  EXPECT_EQ(first.tcp.listen_address, "127.0.0.1");
  EXPECT_EQ(first.local_size, 1u);
  const job_plan second = plan_with(with(tcp_environment, {{"TRIMTAB_JOB_RANK", "1"}, {"TRIMTAB_JOB_LOCAL_SIZE", "3"}}));
  EXPECT_EQ(second.tcp.meeting_socket, -1);
  EXPECT_EQ(second.local_size, 3u);
}

TEST(job_plan, mpirun_and_srun_mean_mpi) {
  const job_plan open_mpi = plan_with(open_mpi_environment);
  EXPECT_EQ(open_mpi.transport, job_transport::mpi);
  EXPECT_EQ(open_mpi.mpi.started_by, mpi_launcher::open_mpi);
  EXPECT_EQ(open_mpi.mpi.started_size, 4u);
  EXPECT_EQ(plan_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).mpi.started_by, mpi_launcher::mpich);
  const job_plan slurm = plan_with({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(slurm.transport, job_transport::mpi);
  EXPECT_EQ(slurm.mpi.started_by, mpi_launcher::unknown);
  EXPECT_EQ(slurm.mpi.started_size, 8u);
  // A batch script, and one rank alone, have nobody to talk to.
  EXPECT_EQ(plan_with({{"SLURM_PROCID", "0"}}).transport, job_transport::none);
  EXPECT_EQ(plan_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).transport, job_transport::none);
}

TEST(job_plan, the_innermost_launcher_counts) {
  EXPECT_EQ(plan_with(with(open_mpi_environment, shm_environment)).transport, job_transport::shm);
  EXPECT_EQ(plan_with(with(open_mpi_environment, tcp_environment)).transport, job_transport::tcp);
  // What a locality starts has rank and size still.
  EXPECT_EQ(plan_with({{"TRIMTAB_JOB_RANK", "1"}, {"TRIMTAB_JOB_SIZE", "4"}}).transport, job_transport::none);
}

TEST(job_plan, a_transport_can_be_chosen) {
  EXPECT_EQ(plan_with(with(shm_environment, {{"TRIMTAB_JOB_TRANSPORT", "mpi"}})).transport, job_transport::mpi);
  const environment both = with(shm_environment, tcp_environment);
  EXPECT_EQ(plan_with(both).transport, job_transport::shm);
  EXPECT_EQ(plan_with(with(both, {{"TRIMTAB_JOB_TRANSPORT", "tcp"}})).transport, job_transport::tcp);
}

TEST(job_plan, what_is_wrong_is_named) {
  EXPECT_EQ(refusal_of(with(shm_environment, {{"TRIMTAB_JOB_RANK", "4"}})),
            "trimtab: TRIMTAB_JOB_RANK: expected a number below TRIMTAB_JOB_SIZE, which is 4, found '4'");
  EXPECT_EQ(refusal_of(with(shm_environment, {{"TRIMTAB_JOB_SIZE", "0"}})),
            "trimtab: TRIMTAB_JOB_SIZE: expected a number from 1 to 65536, found '0'");
  EXPECT_EQ(refusal_of({{"TRIMTAB_JOB_PATH", "/x"}}),
            "trimtab: TRIMTAB_JOB_RANK: expected the number of this locality, from 0, but it is not set");
  EXPECT_EQ(refusal_of(with(tcp_environment, {{"TRIMTAB_JOB_TRANSPORT", "shm"}})),
            "trimtab: TRIMTAB_JOB_PATH: expected the file that all localities map, but it is not set");
  for (const char* const meeting : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", ":80", "127.0.0.1:65536", "127.0.0.1:8x"})
    EXPECT_EQ(refusal_of(with(tcp_environment, {{"TRIMTAB_JOB_MEETING", meeting}})),
              std::string("trimtab: TRIMTAB_JOB_MEETING: expected ADDRESS:PORT, with a port from 1 to 65535, found '") +
                  meeting + "'");
  EXPECT_EQ(refusal_of({{"TRIMTAB_WORKERS", "many"}}),
            "trimtab: TRIMTAB_WORKERS: expected a number from 0 to 4096, found 'many'");
}

TEST(job_plan, the_user_decides_how_parcels_are_coalesced) {
  const coalescing own{.rules = coalescing::way::strict, .count = 8, .wait_us = 50};
  EXPECT_EQ(plan_with({}, {.standard = own}).options.standard, own);
  const coalescing adaptive = plan_with({{"TRIMTAB_PARCEL_COUNT", "0"}}, {.standard = own}).options.standard;
  EXPECT_EQ(adaptive.rules, coalescing::way::adaptive);
  const coalescing strict =
      plan_with({{"TRIMTAB_PARCEL_COUNT", "64"}, {"TRIMTAB_PARCEL_WAIT", "200"}, {"TRIMTAB_PARCEL_BYTES", "4096"}})
          .options.standard;
  EXPECT_EQ(strict, (coalescing{.rules = coalescing::way::strict, .count = 64, .wait_us = 200, .most_bytes = 4096}));
}

TEST(job_plan, the_user_decides_whether_coalescing_is_tuned) {
  EXPECT_FALSE(plan_with({}).options.tunes_coalescing);
  EXPECT_TRUE(plan_with({}, {.tunes_coalescing = true}).options.tunes_coalescing);
  EXPECT_TRUE(plan_with({{"TRIMTAB_PARCEL_TUNE", "1"}}).options.tunes_coalescing);
  EXPECT_FALSE(plan_with({{"TRIMTAB_PARCEL_TUNE", "0"}}, {.tunes_coalescing = true}).options.tunes_coalescing);
}

TEST(job_plan, workers_are_the_programs_or_the_users) {
  EXPECT_EQ(plan_with({}).options.runtime.workers, 0u);
  EXPECT_EQ(plan_with({{"TRIMTAB_WORKERS", "3"}}).options.runtime.workers, 3u);
  EXPECT_EQ(plan_with({{"TRIMTAB_WORKERS", "3"}}, {.runtime = {.workers = 2}}).options.runtime.workers, 2u);
}

TEST(job_plan, localities_share_the_cpus_of_a_host) {
  EXPECT_EQ(default_workers({8, 8}, 4, false), 2u);
  EXPECT_EQ(default_workers({8, 8}, 3, false), 2u);
  EXPECT_EQ(default_workers({2, 8}, 4, false), 1u);
  EXPECT_EQ(default_workers({2, 8}, 1, false), 2u);
  // mpirun has bound each to two of the eight.
  EXPECT_EQ(default_workers({2, 8}, 4, true), 2u);
  EXPECT_EQ(default_workers({8, 8}, 4, true), 2u);
}

TEST(job_plan, only_what_makes_a_locality_is_forgotten) {
  std::string forgotten;
  for (const auto& option_row : option_table())
    if (is_forgotten(option_row)) forgotten += std::string(option_row.variable) + " ";
  EXPECT_EQ(forgotten,
            "TRIMTAB_JOB_TRANSPORT TRIMTAB_JOB_SECRET TRIMTAB_JOB_PATH TRIMTAB_JOB_MEETING TRIMTAB_JOB_SOCKET "
            "TRIMTAB_JOB_ARRIVALS ");
}

// As a program writes it: the same names for tasks here and calls elsewhere.
TEST(parcels_header, has_async_and_post_for_tasks_and_localities) {
  trimtab::job own(nullptr, {.runtime = {.workers = 1}});
  const trimtab::locality where = own.here();
  constexpr auto triple = [](int number) { return 3 * number; };
  EXPECT_EQ(trimtab::async(where, triple, 5).get(), 15);
  const int sum = own.home().run([&] {
    trimtab::post(where, [](int) {}, 1);
    trimtab::post([] {});
    return trimtab::async(triple, 5).get() + trimtab::async([] { return 1; }).get();
  });
  EXPECT_EQ(sum, 16);
}

}  // namespace trimtab::parcels

// Starts the tests of mpi_inside_test.cpp with each mpirun that is installed.
#include "trimtab/parcels/transport/mpi_transport.hpp"

#include <gtest/gtest.h>

#include "mpi_helpers.hpp"

namespace trimtab::parcels {

namespace {

void expect_ranks_pass(std::uint32_t ranks, const std::string& filter, const std::string& some_test) {
  const std::vector<mpirun> launchers = installed_mpiruns();
  if (launchers.empty()) GTEST_SKIP() << "no mpirun of Open MPI or MPICH in PATH";
  for (const mpirun& launcher : launchers) {
    const child_result result = run_ranks(launcher, ranks, filter);
    EXPECT_EQ(result.status, 0) << launcher.command << ":\n" << result.output;
    EXPECT_EQ(result.output.find("SKIPPED"), std::string::npos) << launcher.command << ":\n" << result.output;
    EXPECT_NE(result.output.find("PASSED"), std::string::npos) << some_test << " did not run";
  }
}

}  // namespace

TEST(mpi_transport, passes_within_a_program_that_uses_mpi) { expect_ranks_pass(4, "mpi_inside.*", "mpi_inside"); }

TEST(mpi_transport, passes_where_it_starts_mpi_itself) { expect_ranks_pass(3, "mpi_server_starts_mpi.*", "the server"); }

TEST(mpi_transport, a_job_may_have_one_process) { expect_ranks_pass(1, "mpi_server_starts_mpi.*", "the server"); }

TEST(mpi_transport, a_program_with_a_low_thread_level_gets_an_error) {
  expect_ranks_pass(2, "mpi_single_thread_level.*", "the thread level");
}

TEST(mpi_transport, wrong_sizes_are_errors) {
  mpi_options options;
  options.largest_message = 4095;
  EXPECT_EQ(open_mpi(options).error, "the largest message over MPI must have from 4096 to 67108864 bytes, not 4095");
  options.largest_message = (std::size_t{64} << 20) + 1;
  EXPECT_NE(open_mpi(options).error.find("not 67108865"), std::string::npos);
}

}  // namespace trimtab::parcels

#include "transport/mpi_abi.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

#include "mpi_helpers.hpp"
#include "transport/mpi_library.hpp"

namespace trimtab::parcels::mpi {

namespace {

constexpr const char* header_program = R"(
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#define SAY(name) printf(#name " %lld\n", (long long)(name))
#define source offsetof(MPI_Status, MPI_SOURCE)
#define tag offsetof(MPI_Status, MPI_TAG)
#define error offsetof(MPI_Status, MPI_ERROR)
int main(void) {
  printf("handle_bytes %zu\nstatus_bytes %zu\n", sizeof(MPI_Request), sizeof(MPI_Status));
  printf("source %zu\ntag %zu\nerror %zu\n", source, tag, error);
  SAY(MPI_SUCCESS); SAY(MPI_ANY_SOURCE); SAY(MPI_ANY_TAG); SAY(MPI_PROC_NULL); SAY(MPI_THREAD_SINGLE);
  SAY(MPI_THREAD_FUNNELED); SAY(MPI_THREAD_SERIALIZED); SAY(MPI_THREAD_MULTIPLE); SAY(MPI_MAX_ERROR_STRING);
  SAY(MPI_MAX_LIBRARY_VERSION_STRING); SAY(MPI_STATUS_IGNORE);
  SAY(MPI_COMM_WORLD); SAY(MPI_BYTE); SAY(MPI_REQUEST_NULL); SAY(MPI_ERRORS_RETURN);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
#ifdef OMPI_MAJOR_VERSION
  puts("kind 0");
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
  puts("kind 1");
#else
  puts("kind 2");
#endif
}
)";

class scratch_program {
 public:
  scratch_program() {
    char folder[] = "/tmp/trimtab_mpi_XXXXXX";
    if (mkdtemp(folder) != nullptr) m_folder = folder;
    std::ofstream(source()) << header_program;
  }
  ~scratch_program() {
    for (const std::string& path : {source(), binary()}) unlink(path.c_str());
    rmdir(m_folder.c_str());
  }
  scratch_program(const scratch_program&) = delete;
  scratch_program& operator=(const scratch_program&) = delete;
  std::string source() const { return m_folder + "/header.c"; }
  std::string binary() const { return m_folder + "/header"; }

 private:
  std::string m_folder = {};
};

std::map<std::string, long long> values_of_header(const std::string& compiler) {
  const scratch_program program;
  const child_result compiled = run_command({compiler, "-w", program.source(), "-o", program.binary()});
  EXPECT_EQ(compiled.status, 0) << compiler << ":\n" << compiled.output;
  std::istringstream lines(run_command({program.binary()}).output);
  std::map<std::string, long long> values;
  std::string name;
  for (long long value = 0; lines >> name >> value;) values[name] = value;
  return values;
}

void expect_same(const interface_table& table, const std::map<std::string, long long>& header) {
  const auto in_header = [&](const char* name) { return header.at(name); };
  EXPECT_EQ(static_cast<long long>(table.handle_bytes), in_header("handle_bytes"));
  EXPECT_EQ(static_cast<long long>(table.status.bytes), in_header("status_bytes"));
  EXPECT_LE(in_header("status_bytes"), static_cast<long long>(most_status_bytes));
  EXPECT_EQ(static_cast<long long>(table.status.source), in_header("source"));
  EXPECT_EQ(static_cast<long long>(table.status.tag), in_header("tag"));
  EXPECT_EQ(static_cast<long long>(table.status.error), in_header("error"));
  EXPECT_EQ(success, in_header("MPI_SUCCESS"));
  EXPECT_EQ(table.any_source, in_header("MPI_ANY_SOURCE"));
  EXPECT_EQ(table.any_tag, in_header("MPI_ANY_TAG"));
  EXPECT_EQ(table.no_process, in_header("MPI_PROC_NULL"));
  EXPECT_EQ(table.thread_single, in_header("MPI_THREAD_SINGLE"));
  EXPECT_EQ(table.thread_funneled, in_header("MPI_THREAD_FUNNELED"));
  EXPECT_EQ(table.thread_serialized, in_header("MPI_THREAD_SERIALIZED"));
  EXPECT_EQ(table.thread_multiple, in_header("MPI_THREAD_MULTIPLE"));
  EXPECT_EQ(static_cast<long long>(table.status_ignore), in_header("MPI_STATUS_IGNORE"));
  EXPECT_LE(in_header("MPI_MAX_ERROR_STRING"), static_cast<long long>(most_text_bytes));
  EXPECT_LE(in_header("MPI_MAX_LIBRARY_VERSION_STRING"), static_cast<long long>(most_text_bytes));
  if (table.kind == interface_kind::open_mpi) return;  // its handles are addresses, which differ in each process
  EXPECT_EQ(table.world, static_cast<unsigned>(in_header("MPI_COMM_WORLD")));
  EXPECT_EQ(table.byte_type, static_cast<unsigned>(in_header("MPI_BYTE")));
  EXPECT_EQ(table.no_request, static_cast<unsigned>(in_header("MPI_REQUEST_NULL")));
  EXPECT_EQ(table.errors_return, static_cast<unsigned>(in_header("MPI_ERRORS_RETURN")));
}

bool detects(const char* soname, bool has_open_mpi_world, const char* version, interface_kind expected) {
  interface_kind kind = {};
  return detect_interface(soname, has_open_mpi_world, version, kind) && kind == expected;
}

}  // namespace

TEST(mpi_abi, is_detected_by_soname_symbol_and_version) {
  EXPECT_TRUE(detects("libmpi.so.40", true, "Open MPI v5.0.11, package: ...", interface_kind::open_mpi));
  EXPECT_TRUE(detects("libmpi_ibm.so.3", true, "IBM Spectrum MPI", interface_kind::open_mpi));
  EXPECT_TRUE(detects("libmpi.so.12", false, "MPICH Version:\t5.0.2", interface_kind::mpich));
  EXPECT_TRUE(detects("libmpich.so.12", false, "MPICH Version:\t4.0.2", interface_kind::mpich));
  EXPECT_TRUE(detects("libmpi.so.12", false, "Intel(R) MPI Library 2021.9 for Linux* OS", interface_kind::mpich));
  EXPECT_TRUE(detects("libmpi_abi.so.1", false, "MPICH Version:\t5.0.2", interface_kind::standard));
  EXPECT_TRUE(detects("libmpi_abi.so.1", true, "Open MPI v6.0.0", interface_kind::standard));
  interface_kind kind = {};
  EXPECT_FALSE(detect_interface("libmpi.so.12", false, "Somebody's MPI", kind));
  EXPECT_FALSE(detect_interface("libmpi.so.10", false, "MPICH Version: 2", kind));
  EXPECT_FALSE(detect_interface("", false, "", kind));
}

TEST(mpi_abi, tables_are_those_of_the_installed_headers) {
  std::size_t headers = 0;
  for (const char* const compiler : {"mpicc", "mpicc.openmpi", "mpicc.mpich", "mpicc_abi"}) {
    if (!run_command({compiler, "-show"}).has_started) continue;
    const auto header = values_of_header(compiler);
    SCOPED_TRACE(compiler);
    ASSERT_EQ(header.count("kind"), 1u) << "the program of the header's values did not run";
    ++headers;
    // Open MPI's symbols are not there in this process: that is for the tests of the transport.
    std::vector<std::string> missing;
    expect_same(make_interface_table(static_cast<interface_kind>(header.at("kind")), RTLD_DEFAULT, missing), header);
  }
  if (headers == 0) GTEST_SKIP() << "no mpicc in PATH";
}

TEST(mpi_abi, missing_symbols_are_named) {
  std::vector<std::string> missing;
  make_interface_table(interface_kind::open_mpi, RTLD_DEFAULT, missing);
  EXPECT_EQ(missing, (std::vector<std::string>{"ompi_mpi_comm_world", "ompi_mpi_byte", "ompi_request_null",
                                               "ompi_mpi_errors_return"}));
}

TEST(mpi_abi, knows_what_a_library_calls_itself) {
  void* const library = dlopen("libm.so.6", RTLD_LAZY);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(soname_of(library), "libm.so.6");
  dlclose(library);
  void* const program = dlopen(nullptr, RTLD_LAZY);
  EXPECT_EQ(soname_of(program), "");
}

TEST(mpi_abi, what_is_no_library_of_mpi_is_an_error) {
  EXPECT_NE(load_library("/nowhere/libmpi.so", mpi_launcher::unknown).error.find("cannot be loaded: /nowhere/libmpi.so"),
            std::string::npos);
  const std::string error = load_library("libm.so.6", mpi_launcher::unknown).error;
  EXPECT_NE(error.find("libm.so.6 is no MPI library: it does not define PMPI_"), std::string::npos) << error;
}

// Each in a process of its own: a library stays loaded.
TEST(mpi_library_choice, DISABLED_rejects_the_library_of_another_launcher) {
  std::size_t libraries = 0;
  for (const auto& [name, other] :
       {std::pair("libmpi.so.40", mpi_launcher::mpich), std::pair("libmpich.so.12", mpi_launcher::open_mpi)}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    ++libraries;
    const loaded_library loaded = load_library("", other);
    EXPECT_NE(loaded.error.find("the program's MPI library"), std::string::npos) << "RTLD_LOCAL hides it: " << loaded.error;
    EXPECT_NE(loaded.error.find("was started by the mpirun of"), std::string::npos) << loaded.error;
    break;
  }
  if (libraries == 0) GTEST_SKIP() << "neither Open MPI nor MPICH is installed";
}

TEST(mpi_abi, rejects_the_library_of_another_launcher) {
  const child_result result = run_alone("mpi_library_choice.*");
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace trimtab::parcels::mpi

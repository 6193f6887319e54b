#include "transport/mpi_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace trimtab::parcels::mpi {

namespace {

constexpr char greeting_version[8] = {'t', 't', ' ', 'm', 'p', 'i', ' ', '1'};

}  // namespace

// What each process tells all others at the start.
struct session::greeting {
  char version[8];
  std::uint64_t largest_message;
  std::int64_t process;
  std::uint64_t has_problem;
  char host[64];
};

std::string session::error_text(int code) const {
  std::string text(most_text_bytes, '\0');
  int length = 0;
  if (m_mpi.call.error_string(code, text.data(), &length) != success || length <= 0) return "error " + std::to_string(code);
  text.resize(std::min(static_cast<std::size_t>(length), most_text_bytes));
  return text;
}

std::string session::call_error(const char* function, int code) const {
  return std::string(function) + " of " + m_mpi.path + " has failed: " + error_text(code);
}

std::string session::open(const mpi_options& options, const std::function<bool(std::uint32_t size)>& prepare) {
  if (std::string error = initialize(); !error.empty()) return error;
  if (std::string error = enter(); !error.empty()) return error;
  std::string problem;
  if (options.started_size != 0 && options.started_size != m_size)
    problem = "the MPI library " + m_mpi.path + " says that the job has " + std::to_string(m_size) +
              (m_size == 1 ? " process" : " processes") + ", but its launcher has started " +
              std::to_string(options.started_size) + ": the library and the mpirun are not of the same MPI";
  else if (!prepare(m_size))
    problem = "there is no memory for messages to " + std::to_string(m_size - 1) + " other processes";
  greeting own{};
  std::memcpy(own.version, greeting_version, sizeof own.version);
  own.largest_message = options.largest_message;
  own.process = getpid();
  own.has_problem = !problem.empty();
  if (gethostname(own.host, sizeof own.host - 1) != 0) std::strcpy(own.host, "unknown");
  return greet(own, problem);
}

std::string session::initialize() {
  const function_table& call = m_mpi.call;
  int is_finalized = 0, is_initialized = 0, level = 0;
  call.finalized(&is_finalized);
  if (is_finalized != 0) return "the program has already called MPI_Finalize, so MPI cannot carry messages";
  call.initialized(&is_initialized);
  if (is_initialized == 0) {
    if (const int code = call.init_thread(nullptr, nullptr, m_mpi.table.thread_funneled, &level); code != success)
      return call_error("MPI_Init_thread", code);
    m_is_initialized_here = true;
    return level >= m_mpi.table.thread_funneled ? ""
                                                : "the MPI library " + m_mpi.path + " does not work beside other threads";
  }
  call.query_thread(&level);
  if (level >= m_mpi.table.thread_multiple) return {};
  return "the program has initialized MPI without MPI_THREAD_MULTIPLE, but its calls would overlap with those of the thread "
         "that carries messages: call MPI_Init_thread with MPI_THREAD_MULTIPLE, or let this library initialize MPI";
}

std::string session::enter() {
  const function_table& call = m_mpi.call;
  int number = 0, size = 0;
  if (const int code = call.comm_dup(m_mpi.table.world, &m_communicator); code != success)
    return call_error("MPI_Comm_dup", code);
  // Not of the world: those are the program's.
  if (const int code = call.comm_set_errhandler(m_communicator, m_mpi.table.errors_return); code != success)
    return call_error("MPI_Comm_set_errhandler", code);
  call.comm_rank(m_communicator, &number);
  call.comm_size(m_communicator, &size);
  m_number = static_cast<locality_number>(number);
  m_size = static_cast<std::uint32_t>(size);
  return {};
}

std::string session::greet(const greeting& own, const std::string& problem) {
  std::vector<greeting> all(m_size);
  const handle type = m_mpi.table.byte_type;
  const int bytes = static_cast<int>(sizeof own);
  if (const int code = m_mpi.call.allgather(&own, bytes, type, all.data(), bytes, type, m_communicator); code != success)
    return call_error("MPI_Allgather", code);
  if (!problem.empty()) return problem;
  for (locality_number number = 0; number < m_size; ++number) {
    if (std::string error = check(own, all[number], number); !error.empty()) return error;
    m_members.push_back({all[number].host, all[number].process});
  }
  return {};
}

std::string session::check(const greeting& own, const greeting& other, locality_number number) const {
  const std::string name = "locality " + std::to_string(number);
  if (std::memcmp(own.version, other.version, sizeof own.version) != 0)
    return name + " uses another version of this library";
  if (other.has_problem != 0) return name + " cannot take part in the job, and says why itself";
  // All processes find one pair that differs, so all of them give up.
  if (own.largest_message != other.largest_message)
    return name + " has a largest message of " + std::to_string(other.largest_message) + " bytes, and locality " +
           std::to_string(m_number) + " of " + std::to_string(own.largest_message) +
           " bytes: it must be the same everywhere";
  return {};
}

void session::close() noexcept {
  if (m_communicator != 0) m_mpi.call.comm_free(&m_communicator);
  m_communicator = 0;
  if (m_is_initialized_here) m_mpi.call.finalize();
}

}  // namespace trimtab::parcels::mpi

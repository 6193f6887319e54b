// The binary interfaces of MPI libraries, so that a program can call whichever is there without any mpi.h. There are three:
// Open MPI's, MPICH's (also of Intel MPI, MVAPICH, ParaStation and Cray), and the standard one of MPI 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::parcels::mpi {

// A communicator, request, type or error handler, as wide as a register. MPICH's have four bytes: a callee ignores the upper
// half of an argument, and where it returns a handle through a pointer it writes the lower half. So a variable is 0 before.
using handle = std::uintptr_t;

enum class interface_kind : std::uint8_t { open_mpi, mpich, standard };

struct status_layout {
  std::size_t bytes;
  std::size_t source, tag, error;  // where these are: ints
};

struct interface_table {
  interface_kind kind = {};
  std::size_t handle_bytes = 0;  // in an array
  status_layout status = {};
  int any_source = 0, any_tag = 0, no_process = 0;
  int thread_single = 0, thread_funneled = 0, thread_serialized = 0, thread_multiple = 0;
  handle status_ignore = 0;
  handle world = 0, byte_type = 0, no_request = 0, errors_return = 0;
};

constexpr int success = 0;
constexpr std::size_t most_status_bytes = 32;
constexpr std::size_t most_text_bytes = 8192;  // of an error's text and a library's version

// The functions that take no handle of a kind that is not above. Each is the PMPI_ function: neither a tool's wrappers nor
// ours see these calls.
struct function_table {
  int (*get_library_version)(char* text, int* length) = nullptr;
  int (*initialized)(int* flag) = nullptr;
  int (*finalized)(int* flag) = nullptr;
  int (*init_thread)(int* argument_count, char*** arguments, int required, int* provided) = nullptr;
  int (*query_thread)(int* provided) = nullptr;
  int (*finalize)() = nullptr;
  int (*comm_dup)(handle comm, handle* result) = nullptr;
  int (*comm_free)(handle* comm) = nullptr;
  int (*comm_rank)(handle comm, int* rank) = nullptr;
  int (*comm_size)(handle comm, int* size) = nullptr;
  int (*comm_set_errhandler)(handle comm, handle handler) = nullptr;
  int (*error_string)(int code, char* text, int* length) = nullptr;
  int (*allgather)(const void* sent, int count, handle type, void* received, int received_count, handle received_type,
                   handle comm) = nullptr;
  int (*send)(const void* bytes, int count, handle type, int to, int tag, handle comm) = nullptr;
  int (*recv)(void* bytes, int count, handle type, int from, int tag, handle comm, void* status) = nullptr;
  int (*issend)(const void* bytes, int count, handle type, int to, int tag, handle comm, handle* request) = nullptr;
  int (*irecv)(void* bytes, int count, handle type, int from, int tag, handle comm, handle* request) = nullptr;
  int (*test)(handle* request, int* flag, void* status) = nullptr;
  int (*wait)(handle* request, void* status) = nullptr;
  int (*cancel)(handle* request) = nullptr;
  int (*get_count)(const void* status, handle type, int* count) = nullptr;
};

// Room for one status of any interface.
class status_room {
 public:
  void* address() noexcept { return m_bytes; }
  int source(const interface_table& table) const noexcept { return field(table.status.source); }
  int tag(const interface_table& table) const noexcept { return field(table.status.tag); }

 private:
  int field(std::size_t place) const noexcept {
    int value;
    std::memcpy(&value, m_bytes + place, sizeof value);
    return value;
  }
  alignas(8) std::byte m_bytes[most_status_bytes] = {};
};

// soname: what the library calls itself, such as "libmpi.so.40". has_open_mpi_world: it defines ompi_mpi_comm_world.
// version: what MPI_Get_library_version says. False: none of the three.
bool detect_interface(std::string_view soname, bool has_open_mpi_world, std::string_view version, interface_kind& kind);

// module: of dlopen. Open MPI's handles are addresses of variables in it. missing: symbols that it lacks are added.
interface_table make_interface_table(interface_kind kind, void* module, std::vector<std::string>& missing);
function_table make_function_table(void* module, std::vector<std::string>& missing);

// What the library calls itself, empty if nothing.
std::string soname_of(void* module);

}  // namespace trimtab::parcels::mpi

#include "transport/mpi_abi.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>

namespace trimtab::parcels::mpi {

namespace {

// From the mpi.h of MPICH 4 and of Open MPI 4 and 5, and from the mpi_abi.h of MPI 5. MPICH's have been the same since 2013.
constexpr interface_table open_mpi_table{.kind = interface_kind::open_mpi,
                                         .handle_bytes = 8,
                                         .status = {.bytes = 24, .source = 0, .tag = 4, .error = 8},
                                         .any_source = -1,
                                         .any_tag = -1,
                                         .no_process = -2,
                                         .thread_single = 0,
                                         .thread_funneled = 1,
                                         .thread_serialized = 2,
                                         .thread_multiple = 3,
                                         .status_ignore = 0};

constexpr interface_table mpich_table{.kind = interface_kind::mpich,
                                      .handle_bytes = 4,
                                      .status = {.bytes = 20, .source = 8, .tag = 12, .error = 16},
                                      .any_source = -2,
                                      .any_tag = -1,
                                      .no_process = -1,
                                      .thread_single = 0,
                                      .thread_funneled = 1,
                                      .thread_serialized = 2,
                                      .thread_multiple = 3,
                                      .status_ignore = 1,
                                      .world = 0x44000000,
                                      .byte_type = 0x4c00010d,
                                      .no_request = 0x2c000000,
                                      .errors_return = 0x54000001};

constexpr interface_table standard_table{.kind = interface_kind::standard,
                                         .handle_bytes = 8,
                                         .status = {.bytes = 32, .source = 0, .tag = 4, .error = 8},
                                         .any_source = -1,
                                         .any_tag = -2,
                                         .no_process = -3,
                                         .thread_single = 0,
                                         .thread_funneled = 0x400,
                                         .thread_serialized = 0x800,
                                         .thread_multiple = 0x1000,
                                         .status_ignore = 0,
                                         .world = 0x101,
                                         .byte_type = 0x247,
                                         .no_request = 0x180,
                                         .errors_return = 0x143};

void* defined_symbol(void* module, const char* name, std::vector<std::string>& missing) {
  void* const address = dlsym(module, name);
  if (address == nullptr) missing.emplace_back(name);
  return address;
}

template <class function>
void bind_function(void* module, const char* name, function*& result, std::vector<std::string>& missing) {
  result = reinterpret_cast<function*>(defined_symbol(module, name, missing));
}

}  // namespace

bool detect_interface(std::string_view soname, bool has_open_mpi_world, std::string_view version, interface_kind& kind) {
  // First: libraries of the standard interface may define an implementation's own symbols as well.
  if (soname.starts_with("libmpi_abi.so")) return kind = interface_kind::standard, true;
  if (has_open_mpi_world) return kind = interface_kind::open_mpi, true;
  constexpr std::string_view families[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
  const bool is_mpich = std::ranges::any_of(families, [&](auto name) { return version.find(name) != version.npos; });
  // The number 12 is common to all libraries of the MPICH ABI initiative.
  if (!is_mpich || !soname.ends_with(".so.12")) return false;
  return kind = interface_kind::mpich, true;
}

interface_table make_interface_table(interface_kind kind, void* module, std::vector<std::string>& missing) {
  if (kind == interface_kind::mpich) return mpich_table;
  if (kind == interface_kind::standard) return standard_table;
  interface_table table = open_mpi_table;
  const auto address_of = [&](const char* name) { return reinterpret_cast<handle>(defined_symbol(module, name, missing)); };
  table.world = address_of("ompi_mpi_comm_world");
  table.byte_type = address_of("ompi_mpi_byte");
  table.no_request = address_of("ompi_request_null");
  table.errors_return = address_of("ompi_mpi_errors_return");
  return table;
}

function_table make_function_table(void* module, std::vector<std::string>& missing) {
  function_table table;
  bind_function(module, "PMPI_Get_library_version", table.get_library_version, missing);
  bind_function(module, "PMPI_Initialized", table.initialized, missing);
  bind_function(module, "PMPI_Finalized", table.finalized, missing);
  bind_function(module, "PMPI_Init_thread", table.init_thread, missing);
  bind_function(module, "PMPI_Query_thread", table.query_thread, missing);
  bind_function(module, "PMPI_Finalize", table.finalize, missing);
  bind_function(module, "PMPI_Comm_dup", table.comm_dup, missing);
  bind_function(module, "PMPI_Comm_free", table.comm_free, missing);
  bind_function(module, "PMPI_Comm_rank", table.comm_rank, missing);
  bind_function(module, "PMPI_Comm_size", table.comm_size, missing);
  bind_function(module, "PMPI_Comm_set_errhandler", table.comm_set_errhandler, missing);
  bind_function(module, "PMPI_Error_string", table.error_string, missing);
  bind_function(module, "PMPI_Allgather", table.allgather, missing);
  bind_function(module, "PMPI_Send", table.send, missing);
  bind_function(module, "PMPI_Recv", table.recv, missing);
  bind_function(module, "PMPI_Issend", table.issend, missing);
  bind_function(module, "PMPI_Irecv", table.irecv, missing);
  bind_function(module, "PMPI_Test", table.test, missing);
  bind_function(module, "PMPI_Wait", table.wait, missing);
  bind_function(module, "PMPI_Cancel", table.cancel, missing);
  bind_function(module, "PMPI_Get_count", table.get_count, missing);
  return table;
}

std::string soname_of(void* module) {
  const link_map* map = nullptr;
  if (dlinfo(module, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_ld == nullptr) return {};
  const char* strings = nullptr;
  std::size_t place = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The loader has replaced the offset in the file by the address.
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) place = entry->d_un.d_val;
  }
  return strings == nullptr || place == 0 ? std::string{} : std::string(strings + place);
}

}  // namespace trimtab::parcels::mpi

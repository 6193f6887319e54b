#include "transport/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace trimtab::parcels::mpi {

namespace {

const char* launcher_name(mpi_launcher launcher) {
  return launcher == mpi_launcher::open_mpi ? "Open MPI" : launcher == mpi_launcher::mpich ? "MPICH" : "an unknown MPI";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\n,")); }

int collect_mpi_object(dl_phdr_info* object, std::size_t, void* names) {
  const std::string_view path = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with("libmpi") && file.find(".so") != file.npos)
    static_cast<std::vector<std::string>*>(names)->emplace_back(path);
  return 0;
}

// The object that defines PMPI_Init, which no wrapper of a tool does. nullptr: the module has none.
void* defining_module(void* scope, std::string& path) {
  void* const function = dlsym(scope, "PMPI_Init");
  Dl_info info;
  if (function == nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  path = info.dli_fname;
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module != nullptr) return module;
  // It is linked statically into the program, which dlopen knows by no name.
  return dlopen(nullptr, RTLD_LAZY);
}

// Also one that is loaded with RTLD_LOCAL, as by Python, which RTLD_DEFAULT does not show.
void* already_loaded(std::string& path) {
  if (void* const module = defining_module(RTLD_DEFAULT, path)) return module;
  std::vector<std::string> names;
  dl_iterate_phdr(collect_mpi_object, &names);
  for (const std::string& name : names) {
    void* const object = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (object == nullptr) continue;
    void* const module = defining_module(object, path);
    dlclose(object);
    if (module != nullptr) return module;
  }
  return nullptr;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

loaded_library describe(void* module, const std::string& path) {
  loaded_library result{.mpi = {.path = path}};
  std::vector<std::string> missing;
  library& mpi = result.mpi;
  mpi.call = make_function_table(module, missing);
  if (!missing.empty()) return {{}, path + " is no MPI library: it does not define " + joined(missing)};
  std::string version(most_text_bytes, '\0');
  int length = 0;
  if (mpi.call.get_library_version(version.data(), &length) != success || length < 0) length = 0;
  version.resize(static_cast<std::size_t>(length));
  mpi.version = first_line(version);
  mpi.family = family_of(version);
  interface_kind kind;
  const std::string soname = soname_of(module);
  if (!detect_interface(soname, dlsym(module, "ompi_mpi_comm_world") != nullptr, version, kind))
    return {{},
            "the binary interface of the MPI library " + path + " is unknown: it calls itself '" + soname + "' and '" +
                mpi.version + "', expected Open MPI, libmpi.so.12 of MPICH or its relatives, or libmpi_abi"};
  mpi.table = make_interface_table(kind, module, missing);
  if (!missing.empty()) return {{}, "the MPI library " + path + " does not define " + joined(missing)};
  return result;
}

bool fits(const library& mpi, mpi_launcher started_by) {
  return started_by == mpi_launcher::unknown || mpi.family == mpi_launcher::unknown || mpi.family == started_by;
}

loaded_library check_family(loaded_library result, mpi_launcher started_by, const char* origin) {
  if (!result.error.empty() || fits(result.mpi, started_by)) return result;
  return {{},
          std::string(origin) + " " + result.mpi.path + " is " + launcher_name(result.mpi.family) + " (" +
              result.mpi.version + "), but the job was started by the mpirun of " + launcher_name(started_by) +
              ": use the mpirun and the library of the same MPI"};
}

loaded_library load_given(const std::string& path, mpi_launcher started_by) {
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return {{}, "the MPI library cannot be loaded: " + std::string(dlerror())};
  return check_family(describe(module, path), started_by, "the MPI library");
}

// The program that has started this process, and those that have started it: one of them is the launcher's.
std::vector<std::filesystem::path> programs_above() {
  constexpr int most_generations = 4;  // a shell or two between
  std::vector<std::filesystem::path> programs;
  std::string process = "self";
  for (int generation = 0; generation < most_generations; ++generation) {
    std::ifstream status("/proc/" + process + "/status");
    std::string word;
    while (status >> word && word != "PPid:") continue;
    if (!(status >> process) || process == "0") break;
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/" + process + "/exe", error);
    if (!error) programs.push_back(program);
  }
  return programs;
}

// Its name, and where it would be if it came with the launcher: PREFIX/bin/mpirun has its library in PREFIX/lib.
std::vector<std::string> places_of(const char* name, const std::vector<std::filesystem::path>& launchers) {
  std::vector<std::string> places{name};
  for (const std::filesystem::path& launcher : launchers) {
    std::error_code error;
    const std::filesystem::path place = launcher.parent_path().parent_path() / "lib" / name;
    if (std::filesystem::exists(place, error)) places.push_back(place.string());
  }
  return places;
}

// Not kept open if it does not fit.
loaded_library try_candidate(const std::string& place, mpi_launcher started_by) {
  void* const module = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return {{}, dlerror()};
  loaded_library result = check_family(describe(module, place), started_by, "the MPI library");
  if (!result.error.empty()) dlclose(module);
  return result;
}

loaded_library load_candidate(mpi_launcher started_by) {
  std::vector<std::string> reasons;
  const std::vector<std::filesystem::path> launchers =
      started_by == mpi_launcher::unknown ? std::vector<std::filesystem::path>() : programs_above();
  for (const char* const name : candidate_names(started_by))
    for (const std::string& place : places_of(name, launchers)) {
      loaded_library result = try_candidate(place, started_by);
      if (result.error.empty()) return result;
      reasons.push_back(result.error);
    }
  std::string error = "no MPI library that fits is in the loader's search path or beside the launcher";
  for (const std::string& reason : reasons) error += "; " + reason;
  return {{}, error};
}

}  // namespace

mpi_launcher family_of(std::string_view version) {
  if (version.starts_with("Open MPI")) return mpi_launcher::open_mpi;
  constexpr std::string_view relatives[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
  for (const std::string_view name : relatives)
    if (version.find(name) != version.npos) return mpi_launcher::mpich;
  return mpi_launcher::unknown;
}

std::vector<const char*> candidate_names(mpi_launcher started_by) {
  if (started_by == mpi_launcher::open_mpi) return {"libmpi.so.40", "libmpi.so", "libmpi_abi.so.1"};
  if (started_by == mpi_launcher::mpich) return {"libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1", "libmpi.so"};
  return {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1", "libmpi.so"};
}

loaded_library load_library(const std::string& path, mpi_launcher started_by) {
  std::string loaded_path;
  if (void* const module = already_loaded(loaded_path))
    return check_family(describe(module, loaded_path), started_by, "the program's MPI library");
  return path.empty() ? load_candidate(started_by) : load_given(path, started_by);
}

}  // namespace trimtab::parcels::mpi

#include "runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <mutex>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

namespace {

constexpr const char* symbol_names[] = {
#define TRIMTAB_ONE(name) #name,
    TRIMTAB_OPENMP_SYMBOLS(TRIMTAB_ONE)
#undef TRIMTAB_ONE
};

// Objects that called a hook before. Entries are filled once and then published by the count, so that
// readers need no lock; forgetting moves the count back under the lock, and a reader that still sees an old
// entry finds a runtime that is never unloaded.
enum class object_kind : std::uint8_t { bound, unbound, ours };
struct known_object {
  std::uintptr_t begin, end;
  object_kind kind;
  caller result;  // of bound ones
};
constexpr unsigned max_objects = 128;
constexpr unsigned max_runtimes = 16;

known_object objects[max_objects];
std::atomic<unsigned> object_count{0};
runtime runtimes[max_runtimes];
unsigned runtime_count = 0;
base::spin_lock lock;
char own_marker;

// dlclose is a hook of ours, which would come back here.
void real_dlclose(void* handle) noexcept {
  static const auto forward = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  if (forward != nullptr) forward(handle);
}

struct object_search {
  std::uintptr_t address;
  std::uintptr_t begin, end;
  char path[512];
};

int match_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<object_search*>(data);
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    if (from < begin) begin = from;
    if (from + object->dlpi_phdr[i].p_memsz > end) end = from + object->dlpi_phdr[i].p_memsz;
  }
  if (wanted.address < begin || wanted.address >= end) return 0;
  wanted.begin = begin;
  wanted.end = end;
  std::strncpy(wanted.path, object->dlpi_name == nullptr ? "" : object->dlpi_name, sizeof wanted.path - 1);
  return 1;
}

bool find_object(const void* address, object_search& found) noexcept {
  found = {};
  found.address = reinterpret_cast<std::uintptr_t>(address);
  return dl_iterate_phdr(match_object, &found) != 0;
}

bool is_ours(const void* address) noexcept {
  static object_search self = [] {
    object_search found;
    find_object(&own_marker, found);
    return found;
  }();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= self.begin && at < self.end;
}

const char* base_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_runtime_name(const char* path) noexcept {
  const char* const name = base_name(path);
  return std::strncmp(name, "libgomp", 7) == 0 || std::strncmp(name, "libomp", 6) == 0 ||
         std::strncmp(name, "libiomp", 7) == 0;
}

// Last resort: any loaded object that has a runtime's name. Collected first and opened afterwards: the
// walk holds a lock of the loader.
struct loaded_runtimes {
  char paths[8][512];
  unsigned count;
};

int collect_runtime(dl_phdr_info* object, std::size_t, void* data) {
  auto& found = *static_cast<loaded_runtimes*>(data);
  if (object->dlpi_name == nullptr || !is_runtime_name(object->dlpi_name) || found.count == 8) return 0;
  std::strncpy(found.paths[found.count], object->dlpi_name, sizeof found.paths[0] - 1);
  found.count += 1;
  return 0;
}

void* definition_anywhere(const char* name) noexcept {
  loaded_runtimes all{};
  dl_iterate_phdr(collect_runtime, &all);
  for (unsigned i = 0; i < all.count; ++i) {
    void* const handle = dlopen(all.paths[i], RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    real_dlclose(handle);
    if (found != nullptr) return found;
  }
  return nullptr;
}

void* next_definition(const object_search& from, const char* name) noexcept {
  if (from.path[0] != '\0')
    if (void* const handle = dlopen(from.path, RTLD_NOLOAD | RTLD_LAZY)) {
      // An object's own handle searches it and what it depends on, and so never us.
      void* const found = dlsym(handle, name);
      real_dlclose(handle);
      if (found != nullptr && !is_ours(found)) return found;
    }
  void* const next = dlsym(RTLD_NEXT, name);
  return next != nullptr && !is_ours(next) ? next : nullptr;
}

runtime* runtime_of(const void* function) noexcept {
  object_search found;
  if (!find_object(function, found)) return nullptr;
  for (unsigned i = 0; i < runtime_count; ++i)
    if (runtimes[i].begin == found.begin) return &runtimes[i];
  if (runtime_count == max_runtimes) return nullptr;
  runtime& added = runtimes[runtime_count];
  added.begin = found.begin;
  added.end = found.end;
  std::memcpy(added.path, found.path, sizeof added.path);
  // Kept open for good: a runtime that was once used must not vanish below its callers.
  added.handle = dlopen(found.path[0] == '\0' ? nullptr : found.path, RTLD_NOLOAD | RTLD_LAZY);
  if (added.handle == nullptr) return nullptr;
  added.family = dlsym(added.handle, "__kmpc_fork_call") != nullptr && std::strncmp(base_name(found.path), "libgomp", 7) != 0
                     ? runtime_family::llvm
                     : runtime_family::gomp;
  runtime_count += 1;
  return &added;
}

constinit thread_local runtime* t_last = nullptr;

known_object resolve(const void* address) noexcept {
  const std::lock_guard guard(lock);
  known_object made{};
  made.kind = object_kind::unbound;
  object_search from;
  if (!find_object(address, from)) return made;
  made.begin = from.begin;
  made.end = from.end;
  if (is_ours(address)) {
    made.kind = object_kind::ours;
  } else {
    for (const char* name : {"GOMP_parallel", "__kmpc_fork_call", "omp_get_num_threads"}) {
      void* const function = next_definition(from, name);
      if (function == nullptr) continue;
      made.result.of = runtime_of(function);
      if (made.result.of == nullptr) continue;
      made.kind = object_kind::bound;
      made.result.is_internal = made.result.of->begin == from.begin;
      break;
    }
  }
  const unsigned count = object_count.load(std::memory_order_relaxed);
  if (count < max_objects) {
    objects[count] = made;
    object_count.store(count + 1, std::memory_order_release);  // pairs with look_up
  }
  return made;
}

known_object look_up(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const unsigned count = object_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i)
    if (at >= objects[i].begin && at < objects[i].end) return objects[i];
  return resolve(address);
}

runtime* any_runtime() noexcept {
  const std::lock_guard guard(lock);
  if (runtime_count > 0) return &runtimes[0];
  for (const char* name : {"GOMP_parallel", "__kmpc_fork_call"})
    if (void* const function = definition_anywhere(name)) return runtime_of(function);
  return nullptr;
}

}  // namespace

caller caller_of(const void* own_address) noexcept {
  const known_object found = look_up(own_address);
  if (found.kind != object_kind::bound) return caller_at(own_address);
  t_last = found.result.of;
  return found.result;
}

caller caller_at(const void* return_address) noexcept {
  const known_object found = look_up(return_address);
  if (found.kind == object_kind::bound) [[likely]] {
    t_last = found.result.of;
    return found.result;
  }
  if (t_last == nullptr) t_last = any_runtime();
  return {t_last, false};
}

const void* place_of_call(const void* return_address) noexcept {
  return look_up(return_address).kind == object_kind::ours ? nullptr : return_address;
}

void thread_uses(runtime* of) noexcept { t_last = of; }

void* find_function(runtime& in, symbol which) noexcept {
  const auto index = static_cast<unsigned>(which);
  void* found = dlsym(in.handle, symbol_names[index]);
  // A program that itself holds the runtime is searched from the global scope, where we stand first.
  if (found != nullptr && is_ours(found)) found = dlsym(RTLD_NEXT, symbol_names[index]);
  if (found != nullptr) in.functions[index].store(found, std::memory_order_release);
  return found;
}

std::uint16_t runtime_id(runtime& of) noexcept {
  const std::uint16_t known = of.id.load(std::memory_order_acquire);
  if (known != 0) [[likely]]
    return known;
  const std::lock_guard guard(lock);
  if (of.id.load(std::memory_order_relaxed) == 0) {
    const char* const name = of.family == runtime_family::gomp                     ? "libgomp"
                             : std::strncmp(base_name(of.path), "libiomp", 7) == 0 ? "libiomp5"
                                                                                   : "libomp";
    of.id.store(observe::the_recorder.add_runtime(name, of.path, ""), std::memory_order_release);
  }
  return of.id.load(std::memory_order_relaxed);
}

void forget_callers() noexcept {
  const std::lock_guard guard(lock);
  object_count.store(0, std::memory_order_release);
}

void runtimes_after_fork() noexcept {
  lock.reset();
  for (unsigned i = 0; i < runtime_count; ++i) runtimes[i].id.store(0, std::memory_order_relaxed);
}

bool is_any_runtime_loaded() noexcept {
  loaded_runtimes all{};
  dl_iterate_phdr(collect_runtime, &all);
  return all.count > 0;
}

}  // namespace trimtab::openmp

#include "runtimes/runtimes.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "runtimes/references.hpp"
#include "trimtab/base/spin_lock.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

namespace {

constexpr const char* symbol_names[] = {
#define TRIMTAB_ONE(name) #name,
    TRIMTAB_OPENMP_SYMBOLS(TRIMTAB_ONE)
#undef TRIMTAB_ONE
};

// Objects that called a hook before. Readers take no lock: an entry is filled once and then published by the
// count. An object that was unloaded loses its end (it matches no address then) and gets it back if the same
// object returns to the same place; nothing else of a published entry ever changes.
struct known_object {
  std::uintptr_t begin = 0;
  std::uintptr_t size = 0;
  bool is_runtime = false;
  runtime* of[entries] = {};  // nullptr: not reached by these entry points

  caller as_caller(entry entry_by) const noexcept { return {of[static_cast<unsigned>(entry_by)], is_runtime}; }
};
struct published_object {
  known_object is;
  std::atomic<std::uintptr_t> end{0};  // 0: unloaded
};
constexpr unsigned max_objects = 128;
constexpr unsigned max_runtimes = 16;

published_object objects[max_objects];
std::atomic<unsigned> object_count{0};
runtime runtimes[max_runtimes];
std::atomic<unsigned> runtime_count{0};
// Held for a few stores only, never around a call of the loader: the thread that has the loader's lock (in a
// constructor of a library that it opens) may come through a hook, too.
base::spin_lock lock;

// dlclose is a hook of ours, which would come back here.
void real_dlclose(void* handle) noexcept {
  static const auto forward = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  if (forward != nullptr) forward(handle);
}

struct object_search {
  std::uintptr_t address;
  std::uintptr_t begin, end;
  unsigned index;  // in the order in which objects were loaded
  char path[512];
};

// Objects that the program was started with stand first, and are never unloaded.
unsigned initial_count = 0;
[[gnu::constructor]] void count_initial_objects() noexcept {
  const auto count = [](dl_phdr_info*, std::size_t, void*) {
    ++initial_count;
    return 0;
  };
  dl_iterate_phdr(count, nullptr);
}

int match_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<object_search*>(data);
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    if (from < begin) begin = from;
    if (from + object->dlpi_phdr[i].p_memsz > end) end = from + object->dlpi_phdr[i].p_memsz;
  }
  if (wanted.address < begin || wanted.address >= end) {
    ++wanted.index;
    return 0;
  }
  wanted.begin = begin;
  wanted.end = end;
  std::strncpy(wanted.path, object->dlpi_name == nullptr ? "" : object->dlpi_name, sizeof wanted.path - 1);
  return 1;
}

bool find_object(const void* address, object_search& match) noexcept {
  match = {};
  match.address = reinterpret_cast<std::uintptr_t>(address);
  return dl_iterate_phdr(match_object, &match) != 0;
}

// Bounds of our own object, from the linker: finding them at run time would need a guard around the loader.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

bool is_ours(const void* address) noexcept { return address >= __ehdr_start && address < _end; }

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
constexpr unsigned most_runtimes_loaded = 8;
struct loaded_runtimes {
  std::uintptr_t begins[most_runtimes_loaded];
  unsigned count;
};

int collect_runtime(dl_phdr_info* object, std::size_t, void* data) {
  auto& loaded = *static_cast<loaded_runtimes*>(data);
  if (object->dlpi_name == nullptr || !is_runtime_name(object->dlpi_name) || loaded.count == most_runtimes_loaded) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      loaded.begins[loaded.count] = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
  if (loaded.begins[loaded.count] != 0) loaded.count += 1;
  return 0;
}

void* definition_anywhere(const char* name) noexcept {
  loaded_runtimes all{};
  dl_iterate_phdr(collect_runtime, &all);
  for (unsigned i = 0; i < all.count; ++i)
    if (void* const definition = definition_in(all.begins[i], name)) return definition;
  return nullptr;
}

void* unless_ours(void* address) noexcept { return address == nullptr || is_ours(address) ? nullptr : address; }

// dlsym allocates from the program's heap to say that there is nothing: it is asked for what some object defines.
bool is_anywhere(const char* name) noexcept { return is_defined(name, reinterpret_cast<std::uintptr_t>(&lock)); }

// In the object and what it depends on, which is where the linker looks last. The program's own handle searches the
// global scope, in which we stand first.
void* own_definition(const object_search& from, const char* name) noexcept {
  if (from.path[0] == '\0') return unless_ours(dlsym(RTLD_NEXT, name));
  void* const handle = dlopen(from.path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* const address = dlsym(handle, name);
  real_dlclose(handle);
  return unless_ours(address);
}

// As the dynamic linker would have bound it without us: the global scope first (the program, what is preloaded, what
// they depend on), where only a definition of the right version counts.
void* definition_for(const object_search& from, const reference& wanted) noexcept {
  if (!is_anywhere(wanted.name)) return nullptr;
  if (wanted.version != nullptr)
    if (void* const global = unless_ours(dlvsym(RTLD_NEXT, wanted.name, wanted.version))) return global;
  if (void* const definition = own_definition(from, wanted.name)) return definition;
  return unless_ours(dlsym(RTLD_NEXT, wanted.name));
}

runtime* known_runtime(std::uintptr_t begin) noexcept {
  for (unsigned i = 0, n = runtime_count.load(std::memory_order_acquire); i < n; ++i)
    if (runtimes[i].begin == begin) return &runtimes[i];
  return nullptr;
}

// Every function at once, by the thread that first came here: a team's worker must never wait for the loader,
// whose lock the forking thread may hold while it waits for the worker.
void find_functions(runtime& library) noexcept {
  for (unsigned i = 0; i < static_cast<unsigned>(symbol::count); ++i)
    library.functions[i] = definition_in(library.begin, symbol_names[i]);
}

runtime* runtime_of(const void* function) noexcept {
  object_search match;
  if (!find_object(function, match)) return nullptr;
  if (runtime* const library = known_runtime(match.begin)) return library;
  // Kept open for good: a runtime that was once used must not vanish below its callers. One that cannot is left alone, since
  // the loader allocates from the program's heap.
  if (match.index >= initial_count && dlopen(match.path, RTLD_NOLOAD | RTLD_LAZY) == nullptr) return nullptr;
  runtime created;
  created.begin = match.begin;
  created.end = match.end;
  std::memcpy(created.path, match.path, sizeof created.path);
  find_functions(created);
  created.family = created.functions[static_cast<unsigned>(symbol::__kmpc_fork_call)] != nullptr ? runtime_family::llvm
                                                                                                 : runtime_family::gomp;
  const std::lock_guard guard(lock);
  if (runtime* const library = known_runtime(match.begin)) return library;
  const unsigned count = runtime_count.load(std::memory_order_relaxed);
  if (count == max_runtimes) return nullptr;
  runtimes[count].take(created);
  runtime_count.store(count + 1, std::memory_order_release);  // pairs with known_runtime
  return &runtimes[count];
}

bool is_same(const known_object& a, const known_object& b) noexcept {
  return a.begin == b.begin && a.size == b.size && std::ranges::equal(a.of, b.of);
}

void publish(const known_object& object) noexcept {
  const std::lock_guard guard(lock);
  const unsigned count = object_count.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i)
    if (is_same(objects[i].is, object)) {
      objects[i].end.store(object.begin + object.size, std::memory_order_release);
      return;
    }
  if (count == max_objects) return;  // from now on found anew at every call: slow, but right
  objects[count].is = object;
  objects[count].end.store(object.begin + object.size, std::memory_order_relaxed);
  object_count.store(count + 1, std::memory_order_release);  // pairs with look_up
}

known_object resolve(const void* address) noexcept {
  known_object object;
  object_search from;
  if (!find_object(address, from)) return object;
  object.begin = from.begin;
  object.size = from.end - from.begin;
  if (!is_ours(address)) {
    // An object that refers to none of a family may have looked its functions up by name.
    constexpr struct {
      const char* prefix;
      const char* one;
    } families[entries] = {{"GOMP_", "GOMP_parallel"}, {"__kmpc_", "__kmpc_fork_call"}, {"omp_", "omp_get_num_threads"}};
    for (unsigned i = 0; i < entries; ++i) {
      reference wanted = first_reference(from.address, families[i].prefix);
      if (wanted.name == nullptr) wanted.name = families[i].one;
      void* const function = definition_for(from, wanted);
      object.of[i] = function == nullptr ? nullptr : runtime_of(function);
      object.is_runtime |= object.of[i] != nullptr && object.of[i]->begin == from.begin;
    }
  }
  publish(object);
  return object;
}

// An object that called before, or nullptr.
const known_object* published(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const unsigned count = object_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i)
    if (at >= objects[i].is.begin && at < objects[i].end.load(std::memory_order_relaxed)) return &objects[i].is;
  return nullptr;
}

known_object look_up(const void* address) noexcept {
  const known_object* const object = published(address);
  return object != nullptr ? *object : resolve(address);
}

runtime* any_runtime() noexcept {
  if (runtime_count.load(std::memory_order_acquire) > 0) return &runtimes[0];
  for (const char* name : {"GOMP_parallel", "__kmpc_fork_call"})
    if (void* const function = definition_anywhere(name)) return runtime_of(function);
  return nullptr;
}

}  // namespace

std::atomic<std::uint32_t> places_generation{1};
constinit thread_local runtime* t_last_runtime = nullptr;

caller caller_of(const void* own_address, const void* return_address, entry entry_by) noexcept {
  known_object met;  // now, for the first time
  const known_object* own_object = published(own_address);
  if (own_object == nullptr) [[unlikely]]
    own_object = &(met = resolve(own_address));
  caller result = own_object->as_caller(entry_by);
  if (result.of == nullptr) return caller_at(return_address, entry_by);
  t_last_runtime = result.of;
  // Nearly every call returns to where it came from; else it may be the runtime that calls itself.
  if (reinterpret_cast<std::uintptr_t>(return_address) - own_object->begin < own_object->size) [[likely]]
    return result;
  result.is_internal |= look_up(return_address).is_runtime;
  return result;
}

caller caller_at(const void* return_address, entry entry_by) noexcept {
  if (const known_object* const object = published(return_address); object != nullptr)
    if (const caller result = object->as_caller(entry_by); result.of != nullptr) [[likely]] {
      t_last_runtime = result.of;
      return result;
    }
  const caller result = look_up(return_address).as_caller(entry_by);
  if (result.of != nullptr) {
    t_last_runtime = result.of;
    return result;
  }
  if (t_last_runtime == nullptr) t_last_runtime = any_runtime();
  return {t_last_runtime, false};
}

const void* place_of_call(const void* return_address) noexcept { return is_ours(return_address) ? nullptr : return_address; }

bool is_in_parallel(const runtime& library) noexcept {
  // A runtime that this thread does not use would take it in when asked.
  if (t_last_runtime != &library) return false;
  auto* const query = reinterpret_cast<int (*)()>(library.functions[static_cast<unsigned>(symbol::omp_in_parallel)]);
  return query != nullptr && query() != 0;
}

std::uint16_t runtime_id(runtime& library) noexcept {
  const std::uint16_t number = library.id.load(std::memory_order_acquire);
  if (number != 0) [[likely]]
    return number;
  const std::lock_guard guard(lock);
  if (library.id.load(std::memory_order_relaxed) == 0) {
    const char* const name = library.family == runtime_family::gomp                     ? "libgomp"
                             : std::strncmp(base_name(library.path), "libiomp", 7) == 0 ? "libiomp5"
                                                                                        : "libomp";
    library.id.store(observe::the_recorder.add_runtime(name, library.path, ""), std::memory_order_release);
  }
  return library.id.load(std::memory_order_relaxed);
}

void forget_unloaded() noexcept {
  for (unsigned i = 0, n = object_count.load(std::memory_order_acquire); i < n; ++i) {
    if (objects[i].end.load(std::memory_order_relaxed) == 0) continue;
    object_search match;
    const bool is_loaded = find_object(reinterpret_cast<const void*>(objects[i].is.begin), match) &&
                           match.begin == objects[i].is.begin && match.end - match.begin == objects[i].is.size;
    if (is_loaded) continue;
    const std::uintptr_t end = objects[i].end.exchange(0, std::memory_order_relaxed);
    observe::the_recorder.forget_code(objects[i].is.begin, end);
    places_generation.fetch_add(1, std::memory_order_relaxed);
  }
}

void runtimes_after_fork() noexcept {
  lock.reset();
  for (unsigned i = 0, n = runtime_count.load(std::memory_order_relaxed); i < n; ++i)
    runtimes[i].id.store(0, std::memory_order_relaxed);
}

bool is_any_runtime_loaded() noexcept {
  loaded_runtimes all{};
  dl_iterate_phdr(collect_runtime, &all);
  return all.count > 0;
}

}  // namespace trimtab::openmp

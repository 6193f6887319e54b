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

  caller as_caller(entry by) const noexcept { return {of[static_cast<unsigned>(by)], is_runtime}; }
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

bool find_object(const void* address, object_search& found) noexcept {
  found = {};
  found.address = reinterpret_cast<std::uintptr_t>(address);
  return dl_iterate_phdr(match_object, &found) != 0;
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
  auto& found = *static_cast<loaded_runtimes*>(data);
  if (object->dlpi_name == nullptr || !is_runtime_name(object->dlpi_name) || found.count == most_runtimes_loaded) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      found.begins[found.count] = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
  if (found.begins[found.count] != 0) found.count += 1;
  return 0;
}

void* definition_anywhere(const char* name) noexcept {
  loaded_runtimes all{};
  dl_iterate_phdr(collect_runtime, &all);
  for (unsigned i = 0; i < all.count; ++i)
    if (void* const found = definition_in(all.begins[i], name)) return found;
  return nullptr;
}

void* unless_ours(void* found) noexcept { return found == nullptr || is_ours(found) ? nullptr : found; }

// dlsym allocates from the program's heap to say that there is nothing: it is asked for what some object defines.
bool is_anywhere(const char* name) noexcept { return is_defined(name, reinterpret_cast<std::uintptr_t>(&lock)); }

// In the object and what it depends on, which is where the linker looks last. The program's own handle searches the
// global scope, in which we stand first.
void* own_definition(const object_search& from, const char* name) noexcept {
  if (from.path[0] == '\0') return unless_ours(dlsym(RTLD_NEXT, name));
  void* const handle = dlopen(from.path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  real_dlclose(handle);
  return unless_ours(found);
}

// As the dynamic linker would have bound it without us: the global scope first (the program, what is preloaded, what
// they depend on), where only a definition of the right version counts.
void* definition_for(const object_search& from, const reference& wanted) noexcept {
  if (!is_anywhere(wanted.name)) return nullptr;
  if (wanted.version != nullptr)
    if (void* const global = unless_ours(dlvsym(RTLD_NEXT, wanted.name, wanted.version))) return global;
  if (void* const own = own_definition(from, wanted.name)) return own;
  return unless_ours(dlsym(RTLD_NEXT, wanted.name));
}

runtime* known_runtime(std::uintptr_t begin) noexcept {
  for (unsigned i = 0, n = runtime_count.load(std::memory_order_acquire); i < n; ++i)
    if (runtimes[i].begin == begin) return &runtimes[i];
  return nullptr;
}

// Every function at once, by the thread that first came here: a team's worker must never wait for the loader,
// whose lock the forking thread may hold while it waits for the worker.
void find_functions(runtime& into) noexcept {
  for (unsigned i = 0; i < static_cast<unsigned>(symbol::count); ++i)
    into.functions[i] = definition_in(into.begin, symbol_names[i]);
}

runtime* runtime_of(const void* function) noexcept {
  object_search found;
  if (!find_object(function, found)) return nullptr;
  if (runtime* const known = known_runtime(found.begin)) return known;
  // Kept open for good: a runtime that was once used must not vanish below its callers. One that cannot is left alone, since
  // the loader allocates from the program's heap.
  if (found.index >= initial_count && dlopen(found.path, RTLD_NOLOAD | RTLD_LAZY) == nullptr) return nullptr;
  runtime made;
  made.begin = found.begin;
  made.end = found.end;
  std::memcpy(made.path, found.path, sizeof made.path);
  find_functions(made);
  made.family = made.functions[static_cast<unsigned>(symbol::__kmpc_fork_call)] != nullptr ? runtime_family::llvm
                                                                                           : runtime_family::gomp;
  const std::lock_guard guard(lock);
  if (runtime* const known = known_runtime(found.begin)) return known;
  const unsigned count = runtime_count.load(std::memory_order_relaxed);
  if (count == max_runtimes) return nullptr;
  runtimes[count].take(made);
  runtime_count.store(count + 1, std::memory_order_release);  // pairs with known_runtime
  return &runtimes[count];
}

bool is_same(const known_object& a, const known_object& b) noexcept {
  return a.begin == b.begin && a.size == b.size && std::ranges::equal(a.of, b.of);
}

void publish(const known_object& made) noexcept {
  const std::lock_guard guard(lock);
  const unsigned count = object_count.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i)
    if (is_same(objects[i].is, made)) {
      objects[i].end.store(made.begin + made.size, std::memory_order_release);
      return;
    }
  if (count == max_objects) return;  // from now on found anew at every call: slow, but right
  objects[count].is = made;
  objects[count].end.store(made.begin + made.size, std::memory_order_relaxed);
  object_count.store(count + 1, std::memory_order_release);  // pairs with look_up
}

known_object resolve(const void* address) noexcept {
  known_object made;
  object_search from;
  if (!find_object(address, from)) return made;
  made.begin = from.begin;
  made.size = from.end - from.begin;
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
      made.of[i] = function == nullptr ? nullptr : runtime_of(function);
      made.is_runtime |= made.of[i] != nullptr && made.of[i]->begin == from.begin;
    }
  }
  publish(made);
  return made;
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
  const known_object* const known = published(address);
  return known != nullptr ? *known : resolve(address);
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

caller caller_of(const void* own_address, const void* return_address, entry by) noexcept {
  known_object met;  // now, for the first time
  const known_object* own = published(own_address);
  if (own == nullptr) [[unlikely]]
    own = &(met = resolve(own_address));
  caller found = own->as_caller(by);
  if (found.of == nullptr) return caller_at(return_address, by);
  t_last_runtime = found.of;
  // Nearly every call returns to where it came from; else it may be the runtime that calls itself.
  if (reinterpret_cast<std::uintptr_t>(return_address) - own->begin < own->size) [[likely]]
    return found;
  found.is_internal |= look_up(return_address).is_runtime;
  return found;
}

caller caller_at(const void* return_address, entry by) noexcept {
  if (const known_object* const known = published(return_address); known != nullptr)
    if (const caller found = known->as_caller(by); found.of != nullptr) [[likely]] {
      t_last_runtime = found.of;
      return found;
    }
  const caller found = look_up(return_address).as_caller(by);
  if (found.of != nullptr) {
    t_last_runtime = found.of;
    return found;
  }
  if (t_last_runtime == nullptr) t_last_runtime = any_runtime();
  return {t_last_runtime, false};
}

const void* place_of_call(const void* return_address) noexcept { return is_ours(return_address) ? nullptr : return_address; }

bool is_in_parallel(const runtime& of) noexcept {
  // A runtime that this thread does not use would take it in when asked.
  if (t_last_runtime != &of) return false;
  auto* const ask = reinterpret_cast<int (*)()>(of.functions[static_cast<unsigned>(symbol::omp_in_parallel)]);
  return ask != nullptr && ask() != 0;
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

void forget_unloaded() noexcept {
  for (unsigned i = 0, n = object_count.load(std::memory_order_acquire); i < n; ++i) {
    if (objects[i].end.load(std::memory_order_relaxed) == 0) continue;
    object_search found;
    const bool is_there = find_object(reinterpret_cast<const void*>(objects[i].is.begin), found) &&
                          found.begin == objects[i].is.begin && found.end - found.begin == objects[i].is.size;
    if (is_there) continue;
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

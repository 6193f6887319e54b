// The C library's functions for files, in JVMs of Spark: each call is passed on, and counted with its time if its file is
// known, which is a file that was opened by its path. In every other program the calls are only passed on. Spark's plug-in
// (trimtab.spark.TaskTag) says which stage a thread works for.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "trimtab.h"
#include "trimtab/base/clock.hpp"
#include "trimtab/base/hook.hpp"
#include "trimtab/storage/call_table.hpp"

namespace trimtab::storage {

namespace {

using observe::storage_call;

constinit call_table the_table;
constinit std::atomic<bool> is_in_jvm{false};
constinit char own_folder[512] = {};
constinit thread_local stage_tag own_tag;
constinit thread_local bool is_opening_table = false;

// What is known of an open descriptor: its group, and the stage of the thread that opened it, which holds for threads that
// work for no stage themselves. 0: nothing.
constexpr int most_descriptors = 1 << 16;
constinit std::atomic<std::uint64_t> descriptors[most_descriptors] = {};

std::uint64_t packed(std::uint16_t group, stage_tag tag) noexcept {
  return std::uint64_t{tag.stage} << 32 | std::uint64_t{tag.attempt} << 16 | group;
}
std::uint16_t group_in(std::uint64_t entry) noexcept { return static_cast<std::uint16_t>(entry); }
stage_tag tag_in(std::uint64_t entry) noexcept {
  return {static_cast<std::uint32_t>(entry >> 32), static_cast<std::uint16_t>(entry >> 16)};
}

std::uint64_t entry_of(int descriptor) noexcept {
  if (descriptor < 0 || descriptor >= most_descriptors) return 0;
  return descriptors[descriptor].load(std::memory_order_relaxed);
}

// Whether the process's folder in the run is known; made at the first call, since the preload library may start later.
bool is_recording() noexcept {
  if (!is_in_jvm.load(std::memory_order_relaxed) || is_opening_table) return false;
  if (the_table.is_open()) return true;
  const trimtab_api* const api = trimtab_attach();
  const char* const folder = api == nullptr ? nullptr : api->process_folder();
  const bool can_open = folder != nullptr && folder[0] != '\0';
  // The table's own file is opened through our hooks, too.
  is_opening_table = true;
  const bool is_open = can_open && the_table.open(folder) == 0;
  is_opening_table = false;
  if (!is_open) is_in_jvm.store(false, std::memory_order_relaxed);
  return is_open;
}

bool is_own_file(const char* path) noexcept {
  return own_folder[0] != '\0' && std::strncmp(path, own_folder, std::strlen(own_folder)) == 0;
}

void count_open(const char* path, int flags, int descriptor, std::uint64_t ns) noexcept {
  if (path == nullptr || is_own_file(path)) return;
  const open_manner manner{(flags & O_ACCMODE) != O_RDONLY, own_tag.stage != no_stage};
  const std::uint16_t group = the_table.group_number(group_of(path, manner));
  if (group == call_table::no_group) return;
  the_table.add(own_tag, {storage_call::open, group, descriptor, ns});
  if (descriptor >= 0 && descriptor < most_descriptors)
    descriptors[descriptor].store(packed(group, own_tag), std::memory_order_relaxed);
}

void count_call(storage_call call, std::uint64_t entry, std::int64_t result, std::uint64_t ns) noexcept {
  the_table.add(own_tag.stage != no_stage ? own_tag : tag_in(entry), {call, group_in(entry), result, ns});
}

// `count` is told the result and the ns of the call; errno stays what the call left.
template <class forward, class counting>
auto timed(const forward& call, const counting& count) noexcept {
  const std::uint64_t begin = base::monotonic_ns();
  const auto result = call();
  const int error = errno;
  count(result, base::monotonic_ns() - begin);
  errno = error;
  return result;
}

template <class forward>
int opened(const char* path, int flags, forward&& call) noexcept {
  if (!is_recording()) return call();
  return timed(call, [&](int descriptor, std::uint64_t ns) { count_open(path, flags, descriptor, ns); });
}

template <class forward>
ssize_t transferred(storage_call kind, int descriptor, forward&& call) noexcept {
  const std::uint64_t entry = entry_of(descriptor);
  if (entry == 0) return call();
  return timed(call, [&](ssize_t result, std::uint64_t ns) { count_call(kind, entry, result, ns); });
}

// The C library's function of that name, looked up at the first call: other libraries may call before our constructor.
template <class called>
called* next(std::atomic<called*>& known, const char* name) noexcept {
  called* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<called*>(dlsym(RTLD_NEXT, name));
    known.store(found, std::memory_order_relaxed);
  }
  return found;
}

bool is_java() noexcept {
  char path[512];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr && std::strcmp(slash, "/java") == 0;
}

[[gnu::constructor]] void attach() noexcept {
  const int saved = errno;
  const trimtab_api* const api = is_java() ? trimtab_attach() : nullptr;
  if (api != nullptr) {
    std::snprintf(own_folder, sizeof own_folder, "%s", api->process_folder());
    pthread_atfork(nullptr, nullptr, [] {
      the_table.leave_to_parent();
      is_in_jvm.store(false);
    });
    is_in_jvm.store(true);
  }
  errno = saved;
}

// Subjects of stages in this process's run: a scope for each task, which also gives its thread a lane.
void begin_scope(stage_tag tag) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "stage %u.%u", tag.stage, tag.attempt);
  trimtab_begin(trimtab_subject_at(name, "", 0));
}

void end_scope(stage_tag tag) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "stage %u.%u", tag.stage, tag.attempt);
  trimtab_end(trimtab_subject_at(name, "", 0));
}

// Says which executor of the application this process is; below 0: its driver.
void name_process(std::int32_t executor) noexcept {
  const trimtab_api* const api = trimtab_attach();
  if (api == nullptr) return;
  char text[16];
  std::snprintf(text, sizeof text, "%d", executor);
  api->fact("spark executor", executor < 0 ? "driver" : text);
}

// Says whether this executor keeps its shuffle files open, and what an open was measured to take.
void name_pool(bool is_pooled, std::int64_t open_ns) noexcept {
  const trimtab_api* const api = trimtab_attach();
  if (api == nullptr) return;
  char text[24];
  std::snprintf(text, sizeof text, "%lld", static_cast<long long>(open_ns));
  api->fact("spark shuffle files", is_pooled ? "kept open" : "not kept open");
  api->fact("spark shuffle open ns", text);
}

// Cumulative; by the one thread of the driver that watches the bus. Its lane is what has the driver's process sampled.
void set_bus_counters(std::int64_t posted, std::int64_t dropped) noexcept {
  const trimtab_api* const api = trimtab_attach();
  if (api == nullptr) return;
  static constinit std::uint32_t counters[2] = {};
  if (counters[0] == 0) {
    api->name_lane("watches Spark's listener bus");
    counters[0] = api->path_counter("spark/events posted", "1", 1);
    counters[1] = api->path_counter("spark/events dropped", "1", 1);
  }
  api->set(counters[0], static_cast<double>(posted));
  api->set(counters[1], static_cast<double>(dropped));
}

}  // namespace

}  // namespace trimtab::storage

using namespace trimtab::storage;
using trimtab::observe::storage_call;

#define TRIMTAB_NEXT(name, type)                          \
  using function = type;                                  \
  static constinit std::atomic<function*> known{nullptr}; \
  auto* const forward = next<function>(known, name)

#define TRIMTAB_OPEN(name)                                                  \
  TRIMTAB_HOOK int name(const char* path, int flags, ...) {                 \
    TRIMTAB_NEXT(#name, int(const char*, int, ...));                        \
    mode_t mode = 0;                                                        \
    if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {                           \
      va_list list;                                                         \
      va_start(list, flags);                                                \
      mode = va_arg(list, mode_t);                                          \
      va_end(list);                                                         \
    }                                                                       \
    return opened(path, flags, [&] { return forward(path, flags, mode); }); \
  }
#define TRIMTAB_OPENAT(name)                                                        \
  TRIMTAB_HOOK int name(int folder, const char* path, int flags, ...) {             \
    TRIMTAB_NEXT(#name, int(int, const char*, int, ...));                           \
    mode_t mode = 0;                                                                \
    if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {                                   \
      va_list list;                                                                 \
      va_start(list, flags);                                                        \
      mode = va_arg(list, mode_t);                                                  \
      va_end(list);                                                                 \
    }                                                                               \
    return opened(path, flags, [&] { return forward(folder, path, flags, mode); }); \
  }
#define TRIMTAB_OPEN_2(name)                                          \
  TRIMTAB_HOOK int name(const char* path, int flags) {                \
    TRIMTAB_NEXT(#name, int(const char*, int));                       \
    return opened(path, flags, [&] { return forward(path, flags); }); \
  }
#define TRIMTAB_OPENAT_2(name)                                                \
  TRIMTAB_HOOK int name(int folder, const char* path, int flags) {            \
    TRIMTAB_NEXT(#name, int(int, const char*, int));                          \
    return opened(path, flags, [&] { return forward(folder, path, flags); }); \
  }
#define TRIMTAB_CREAT(name)                                             \
  TRIMTAB_HOOK int name(const char* path, mode_t mode) {                \
    TRIMTAB_NEXT(#name, int(const char*, mode_t));                      \
    return opened(path, O_WRONLY, [&] { return forward(path, mode); }); \
  }
// clang-format off
TRIMTAB_OPEN(open)
TRIMTAB_OPEN(open64)
TRIMTAB_OPENAT(openat)
TRIMTAB_OPENAT(openat64)
TRIMTAB_OPEN_2(__open_2)
TRIMTAB_OPEN_2(__open64_2)
TRIMTAB_OPENAT_2(__openat_2)
TRIMTAB_OPENAT_2(__openat64_2)
TRIMTAB_CREAT(creat)
TRIMTAB_CREAT(creat64)

TRIMTAB_HOOK int close(int descriptor) {
  TRIMTAB_NEXT("close", int(int));
  const std::uint64_t entry = entry_of(descriptor);
  if (entry == 0) return forward(descriptor);
  // Before the call: right after it another thread may have a new file under this number.
  descriptors[descriptor].store(0, std::memory_order_relaxed);
  return timed([&] { return forward(descriptor); },
               [&](int result, std::uint64_t ns) { count_call(storage_call::close, entry, result, ns); });
}

#define TRIMTAB_TRANSFER(name, call, types, parameters, arguments)                        \
  TRIMTAB_HOOK ssize_t name parameters {                                                  \
    TRIMTAB_NEXT(#name, ssize_t types);                                                   \
    return transferred(storage_call::call, file, [&] { return forward arguments; });      \
  }
TRIMTAB_TRANSFER(read, read, (int, void*, size_t), (int file, void* to, size_t bytes), (file, to, bytes))
TRIMTAB_TRANSFER(__read_chk, read, (int, void*, size_t, size_t), (int file, void* to, size_t bytes, size_t room), (file, to, bytes, room))
TRIMTAB_TRANSFER(pread, read, (int, void*, size_t, off_t), (int file, void* to, size_t bytes, off_t at), (file, to, bytes, at))
TRIMTAB_TRANSFER(pread64, read, (int, void*, size_t, off64_t), (int file, void* to, size_t bytes, off64_t at), (file, to, bytes, at))
TRIMTAB_TRANSFER(__pread_chk, read, (int, void*, size_t, off_t, size_t), (int file, void* to, size_t bytes, off_t at, size_t room), (file, to, bytes, at, room))
TRIMTAB_TRANSFER(__pread64_chk, read, (int, void*, size_t, off64_t, size_t), (int file, void* to, size_t bytes, off64_t at, size_t room), (file, to, bytes, at, room))
TRIMTAB_TRANSFER(readv, read, (int, const iovec*, int), (int file, const iovec* parts, int count), (file, parts, count))
TRIMTAB_TRANSFER(preadv, read, (int, const iovec*, int, off_t), (int file, const iovec* parts, int count, off_t at), (file, parts, count, at))
TRIMTAB_TRANSFER(preadv64, read, (int, const iovec*, int, off64_t), (int file, const iovec* parts, int count, off64_t at), (file, parts, count, at))
TRIMTAB_TRANSFER(write, write, (int, const void*, size_t), (int file, const void* from, size_t bytes), (file, from, bytes))
TRIMTAB_TRANSFER(pwrite, write, (int, const void*, size_t, off_t), (int file, const void* from, size_t bytes, off_t at), (file, from, bytes, at))
TRIMTAB_TRANSFER(pwrite64, write, (int, const void*, size_t, off64_t), (int file, const void* from, size_t bytes, off64_t at), (file, from, bytes, at))
TRIMTAB_TRANSFER(writev, write, (int, const iovec*, int), (int file, const iovec* parts, int count), (file, parts, count))
TRIMTAB_TRANSFER(pwritev, write, (int, const iovec*, int, off_t), (int file, const iovec* parts, int count, off_t at), (file, parts, count, at))
TRIMTAB_TRANSFER(pwritev64, write, (int, const iovec*, int, off64_t), (int file, const iovec* parts, int count, off64_t at), (file, parts, count, at))
// From a file to a socket, as executors serve shuffle files, or to another file.
TRIMTAB_TRANSFER(sendfile, read, (int, int, off_t*, size_t), (int to, int file, off_t* at, size_t bytes), (to, file, at, bytes))
TRIMTAB_TRANSFER(sendfile64, read, (int, int, off64_t*, size_t), (int to, int file, off64_t* at, size_t bytes), (to, file, at, bytes))
// clang-format on

// The native methods of trimtab.spark.TaskTag. The first two parameters are the JVM's own.
extern "C" __attribute__((visibility("default"))) void Java_trimtab_spark_TaskTag_begin(void*, void*, std::int32_t stage,
                                                                                        std::int32_t attempt) {
  own_tag = {static_cast<std::uint32_t>(stage), static_cast<std::uint16_t>(attempt)};
  begin_scope(own_tag);
}

extern "C" __attribute__((visibility("default"))) void Java_trimtab_spark_TaskTag_end(void*, void*) {
  if (own_tag.stage == no_stage) return;
  end_scope(own_tag);
  own_tag = {};
}

extern "C" __attribute__((visibility("default"))) void Java_trimtab_spark_TaskTag_listenerBus(void*, void*,
                                                                                              std::int64_t posted,
                                                                                              std::int64_t dropped) {
  set_bus_counters(posted, dropped);
}

extern "C" __attribute__((visibility("default"))) void Java_trimtab_spark_TaskTag_executor(void*, void*,
                                                                                           std::int32_t number) {
  name_process(number);
}

extern "C" __attribute__((visibility("default"))) void Java_trimtab_spark_TaskTag_shuffleFiles(void*, void*,
                                                                                               std::uint8_t is_pooled,
                                                                                               std::int64_t open_ns) {
  name_pool(is_pooled != 0, open_ns);
}

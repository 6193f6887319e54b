// A library for LD_PRELOAD that makes a file system with slow opens out of a fast one, and counts opens by kind of file:
//   SLOW_OPENS_DELAY=US     delay of each open below a folder of shuffle files (blockmgr-*); default: none
//   SLOW_OPENS_COUNTS=FILE  counts of all processes that run with it: four numbers of 64 bits (index, data, temporary, other
//   files)
// The JVM opens files through open64 (java.io) and openat64 or open64 (java.nio), which it finds with dlsym.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind { kind_index, kind_data, kind_temporary, kind_other, kinds };

static _Atomic uint64_t* g_counts;
static long g_delay_us;
static int (*g_open)(const char*, int, ...);
static int (*g_openat)(int, const char*, int, ...);

__attribute__((constructor)) static void set_up(void) {
  g_open = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open64");
  g_openat = (int (*)(int, const char*, int, ...))dlsym(RTLD_NEXT, "openat64");
  const char* delay = getenv("SLOW_OPENS_DELAY");
  g_delay_us = delay != NULL ? atol(delay) : 0;
  const char* path = getenv("SLOW_OPENS_COUNTS");
  int file = path != NULL ? g_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0 || ftruncate(file, kinds * sizeof(uint64_t)) != 0) return;
  void* memory = mmap(NULL, kinds * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) g_counts = memory;
}

static int ends_with(const char* text, const char* end) {
  size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// Finished index and data files are only read. Temporary: temp_shuffle_* (one for each reduce partition) and unfinished
// files, which get another name when they are complete (shuffle_*.data.UUID).
static enum kind kind_by_name(const char* path) {
  const char* name = strrchr(path, '/');
  name = name != NULL ? name + 1 : path;
  if (strncmp(name, "temp_shuffle_", 13) == 0) return kind_temporary;
  if (strncmp(name, "shuffle_", 8) != 0) return kind_other;
  if (ends_with(name, ".index")) return kind_index;
  if (ends_with(name, ".data")) return kind_data;
  return strstr(name, ".index.") != NULL || strstr(name, ".data.") != NULL ? kind_temporary : kind_other;
}

static void note_open(const char* path) {
  if (path == NULL || strstr(path, "/blockmgr-") == NULL) return;
  int saved_error = errno;
  if (g_counts != NULL) atomic_fetch_add_explicit(&g_counts[kind_by_name(path)], 1, memory_order_relaxed);
  if (g_delay_us > 0) {
    struct timespec delay = {g_delay_us / 1000000, g_delay_us % 1000000 * 1000};
    while (nanosleep(&delay, &delay) != 0 && errno == EINTR) {
    }
  }
  errno = saved_error;
}

static mode_t mode_from(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_from(flags, arguments);
  va_end(arguments);
  note_open(path);
  return g_open(path, flags, mode);
}

int open(const char* path, int flags, ...) __attribute__((alias("open64")));

int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_from(flags, arguments);
  va_end(arguments);
  note_open(path);
  return g_openat(folder, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) __attribute__((alias("openat64")));

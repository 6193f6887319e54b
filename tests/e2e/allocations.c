// Preloaded beside Trimtab: who calls the program's malloc? Of each call, the object that the nearest frame outside of the C
// library and the loader lies in; how often each object did is written to the file that ALLOCATIONS names. Threads that an
// object starts are counted apart: the C library allocates a table for each.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

static int file = -1;
static __thread int is_within;

static const char* name_in(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void note(void) {
  if (file < 0 || is_within) return;
  is_within = 1;
  void* frames[16];
  const int count = backtrace(frames, 16);
  int starts_thread = 0;
  for (int i = 2; i < count; ++i) {
    Dl_info place;
    if (!dladdr(frames[i], &place) || place.dli_fname == NULL) continue;
    if (place.dli_sname != NULL && strstr(place.dli_sname, "pthread_create") != NULL) starts_thread = 1;
    const char* const name = name_in(place.dli_fname);
    if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "ld-linux", 8) == 0) continue;
    char line[256];
    const int length = snprintf(line, sizeof line, "%s%s\n", name, starts_thread ? " thread" : "");
    if (write(file, line, (size_t)length) < 0) file = -1;
    break;
  }
  is_within = 0;
}

__attribute__((constructor)) static void begin(void) {
  void* frames[2];
  backtrace(frames, 2);  // loads what it needs
  const char* const path = getenv("ALLOCATIONS");
  if (path != NULL) file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void* malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  note();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  note();
  return __libc_realloc(memory, bytes);
}

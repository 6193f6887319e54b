/* What hooks cost a loop of loops.h, where two runs of a program differ by more: NAME STEPS TURNS. In one process the loop
 * calls the OpenMP runtime through the hooks and past them, in turn: what the dynamic linker has written into the program's
 * table of addresses is changed in between. Prints a line for each turn: ns of a step through the hooks, and past them.
 * Without hooks both are the same. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "batches.h"
#include "loops.h"

enum { most_calls = 64, most_turns = 10000 };

struct call {
  void** slot;
  void *hooked, *direct;
};
static struct call calls[most_calls];
static int call_count;

/* Of the program itself, which comes first, and of its OpenMP runtime. */
struct objects {
  ElfW(Addr) base;
  const ElfW(Dyn) * dynamic;
  void* runtime;
};

static int look_at(struct dl_phdr_info* info, size_t bytes, void* into) {
  struct objects* const found = into;
  (void)bytes;
  if (found->dynamic == NULL) {
    found->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
        found->dynamic = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  } else if (strstr(info->dlpi_name, "/libgomp.so") != NULL || strstr(info->dlpi_name, "/libomp.so") != NULL) {
    found->runtime = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  }
  return 0;
}

static int is_of_openmp(const char* name) {
  return strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "__kmpc_", 7) == 0 || strncmp(name, "omp_", 4) == 0;
}

/* The dynamic linker may or may not have added the base to what stands in the table. */
static ElfW(Addr) address(const struct objects* of, ElfW(Addr) told) { return told < of->base ? of->base + told : told; }

static void find_calls(void) {
  struct objects of = {0, NULL, NULL};
  dl_iterate_phdr(look_at, &of);
  if (of.dynamic == NULL || of.runtime == NULL) return;
  ElfW(Addr) symbols = 0, names = 0, tables[2] = {0, 0};
  size_t bytes[2] = {0, 0};
  for (const ElfW(Dyn)* each = of.dynamic; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_SYMTAB) symbols = address(&of, each->d_un.d_ptr);
    if (each->d_tag == DT_STRTAB) names = address(&of, each->d_un.d_ptr);
    if (each->d_tag == DT_JMPREL) tables[0] = address(&of, each->d_un.d_ptr);
    if (each->d_tag == DT_PLTRELSZ) bytes[0] = each->d_un.d_val;
    if (each->d_tag == DT_RELA) tables[1] = address(&of, each->d_un.d_ptr);
    if (each->d_tag == DT_RELASZ) bytes[1] = each->d_un.d_val;
  }
  for (int table = 0; table < 2; ++table)
    for (size_t i = 0; i < bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)* const entry = (const ElfW(Rela)*)tables[table] + i;
      const ElfW(Sym)* const symbol = (const ElfW(Sym)*)symbols + ELF64_R_SYM(entry->r_info);
      const char* const name = (const char*)names + symbol->st_name;
      if (!is_of_openmp(name) || call_count == most_calls) continue;
      const struct call made = {(void**)(of.base + entry->r_offset), dlsym(RTLD_DEFAULT, name), dlsym(of.runtime, name)};
      if (made.hooked != NULL && made.direct != NULL) calls[call_count++] = made;
    }
}

static double ns_of_step(int is_hooked, const char* name, int steps, double* sum) {
  for (int i = 0; i < call_count; ++i) *calls[i].slot = is_hooked ? calls[i].hooked : calls[i].direct;
  const double began = now_ns();
  *sum = run_loop(name, steps, 1);
  return (now_ns() - began) / steps;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s NAME STEPS TURNS\n", argv[0]);
    return 2;
  }
  const int steps = (int)whole_number(argv[0], "STEPS", argv[2], 1000000);
  const int turns = (int)whole_number(argv[0], "TURNS", argv[3], most_turns);
  find_calls();
  double hooked[most_turns], direct[most_turns], sums[2], warm_up;
  if (call_count == 0) {
    fprintf(stderr, "%s: found no calls of an OpenMP runtime\n", argv[0]);
    return 1;
  }
  ns_of_step(1, argv[1], 10 * steps, &warm_up);
  for (int i = 0; i < turns; ++i) {
    for (int second = 0; second < 2; ++second) {
      const int is_hooked = (i + second) % 2;
      (is_hooked ? hooked : direct)[i] = ns_of_step(is_hooked, argv[1], steps, &sums[is_hooked]);
    }
    if (sums[0] < 0 || sums[0] != sums[1]) {
      fprintf(stderr, "%s: expected the same sum each time, found %.17g and %.17g\n", argv[0], sums[0], sums[1]);
      return 1;
    }
  }
  for (int i = 0; i < turns; ++i) printf("%.1f %.1f\n", hooked[i], direct[i]);
  return 0;
}

/* A program with knobs of its own. Its events take next to no time; they say how long they took, so that what is best is known:
 * tile 96 and order columns. MODE EVENTS [LIBRARY]; prints the values of the last event. C and C++. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trimtab.h>
#include <unistd.h>

static trimtab_work* solve;
static trimtab_knob tile, order, depth;
static int late, changed_within;

static void declare(void) {
  solve = trimtab_tuned_work("solve");
  tile = trimtab_knob_range(solve, "tile", 16, 160, 16, 32);
  order = trimtab_knob_names(solve, "order", "rows,columns", 0);
}

static double cost(int64_t tile_value, int64_t order_value, int64_t depth_value) {
  const double away = (double)(tile_value > 96 ? tile_value - 96 : 96 - tile_value) / 16;
  return 1e-3 * (1 + 0.15 * away) * (order_value == 1 ? 0.6 : 1) * (1 + 0.3 * (double)(3 - depth_value));
}

static void one_event(void) {
  const trimtab_event event = trimtab_event_begin(solve);
  const int64_t tile_value = trimtab_knob_value(&event, tile), order_value = trimtab_knob_value(&event, order);
  usleep(50);
  if (trimtab_knob_value(&event, tile) != tile_value || trimtab_knob_value(&event, order) != order_value) changed_within = 1;
  trimtab_event_took(&event, 2 * cost(tile_value, order_value, late ? trimtab_knob_value(&event, depth) : 3), 2);
}

static void print(const char* who) {
  const trimtab_event event = trimtab_event_begin(solve);
  printf("%s: tile %d, order %d%s\n", who, (int)trimtab_knob_value(&event, tile), (int)trimtab_knob_value(&event, order),
         changed_within ? ", CHANGED WITHIN AN EVENT" : "");
  fflush(stdout);
}

static void* run(void* count) {
  for (int i = 0; i < *(const int*)count; ++i) one_event();
  return NULL;
}

static void run_threads(int count) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, run, &count);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static void run_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    int some = 100;
    run(&some);
    print("child");
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void run_library(const char* path, int count) {
  for (int i = 0; i < 2; ++i) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void (*work)(int) = NULL;
    if (library != NULL) *(void**)(&work) = dlsym(library, "library_work");
    if (work == NULL) printf("no library: %s\n", dlerror());
    if (work != NULL) work(count / 4);
    if (library != NULL) dlclose(library);
    int more = count / 4;
    run(&more);
  }
}

static void declare_wrongly(void) {
  static const int64_t sizes[] = {8, 64};
  trimtab_knob_range(solve, "reversed", 512, 16, 16, 64);
  trimtab_knob_range(solve, "tile", 1, 2, 1, 1);
  trimtab_knob_list(solve, "size", sizes, 2, 9);
  trimtab_knob_names(solve, "twins", "rows,rows", 0);
  static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (int i = 0; i < 7; ++i) trimtab_knob_range(solve, names[i], 0, 1, 1, 0);
}

int main(int argc, char** argv) {
  const char* const mode = argv[1];
  int count = atoi(argv[2]);
  declare();
  if (strcmp(mode, "silent") == 0) usleep(300000);
  if (strcmp(mode, "wrong") == 0) declare_wrongly();
  if (strcmp(mode, "late") == 0) {
    int some = count / 10;
    run(&some);
    depth = trimtab_knob_range(solve, "depth", 1, 3, 1, 1);
    late = 1;
  }
  if (strcmp(mode, "threads") == 0)
    run_threads(count / 3);
  else if (strcmp(mode, "library") == 0)
    run_library(argv[argc - 1], count);
  else if (strcmp(mode, "silent") != 0)
    run(&count);
  if (strcmp(mode, "fork") == 0) run_child();
  print("program");
  return 0;
}

// Programs with one planted fault each, which makes a thread wait: planted FAULT STEPS.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return 1e3 * (double)used.tv_sec + 1e-6 * (double)used.tv_nsec;
}

// So much CPU time, however busy the machine is.
static void work(double ms) {
  const double end = cpu_ms() + ms;
  while (cpu_ms() < end) {
  }
}

static void even(int step) {
  (void)step;
#pragma omp parallel
  work(2);
}

static void imbalance(int step) {
  (void)step;
#pragma omp parallel
  work(omp_get_thread_num() == 1 ? 6 : 2);
}

static void imbalance_at_barrier(int step) {
  (void)step;
#pragma omp parallel
  {
    work(omp_get_thread_num() == 0 ? 6 : 2);
#pragma omp barrier
    work(1);
  }
}

static void imbalanced_loop(int step) {
  (void)step;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 8; ++i) work(i < 4 ? 0.25 : 1.5);
}

static void straggler(int step) {
#pragma omp parallel
  work(step % 10 == 9 && omp_get_thread_num() == 1 ? 60 : 2);
}

static void serial(int step) {
  (void)step;
  work(6);
#pragma omp parallel
  work(2);
}

static void lock(int step) {
  (void)step;
#pragma omp parallel
  {
    for (int turn = 0; turn < 4; ++turn) {
#pragma omp critical
      work(1);
    }
  }
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(int step);
  } faults[] = {{"even", even},
                {"imbalance", imbalance},
                {"imbalance-at-barrier", imbalance_at_barrier},
                {"imbalanced-loop", imbalanced_loop},
                {"straggler", straggler},
                {"serial", serial},
                {"lock", lock}};
  for (size_t i = 0; count > 2 && i < sizeof faults / sizeof *faults; ++i) {
    if (strcmp(faults[i].name, arguments[1]) != 0) continue;
    for (int step = 0; step < atoi(arguments[2]); ++step) faults[i].run(step);
    return 0;
  }
  fprintf(stderr, "planted FAULT STEPS\n");
  return 2;
}

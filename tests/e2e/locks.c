// Two threads that need one lock, taken at two places, or each a lock of its own: locks FAULT STEPS.
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

static void work(double ms) {
  const double end = cpu_ms() + ms;
  while (cpu_ms() < end) {
  }
}

static omp_lock_t locks[2];
static omp_nest_lock_t nest_lock;

// Compilers make one place of two that do the same, and leave a function with its last call.
static volatile int passed;

static __attribute__((noinline)) void simple_first(int lock) {
  omp_set_lock(&locks[lock]);
  work(1);
  omp_unset_lock(&locks[lock]);
}

static __attribute__((noinline)) void simple_second(int lock) {
  omp_set_lock(&locks[lock]);
  work(1.1);
  omp_unset_lock(&locks[lock]);
}

static void simple(int thread, int lock) { thread == 0 ? simple_first(lock) : simple_second(lock); }

static void omp_lock(int thread) { simple(thread, 0); }

static void own_locks(int thread) { simple(thread, thread); }

// Taken by a test, which does not wait, by the first thread.
static void tested_lock(int thread) {
  if (thread == 0) {
    while (!omp_test_lock(&locks[0])) {
    }
  } else {
    omp_set_lock(&locks[0]);
  }
  work(1);
  omp_unset_lock(&locks[0]);
}

static void omp_nest_lock(int thread) {
  omp_set_nest_lock(&nest_lock);
  omp_set_nest_lock(&nest_lock);
  work(thread == 0 ? 1 : 1.2);
  omp_unset_nest_lock(&nest_lock);
  work(0.5);
  omp_unset_nest_lock(&nest_lock);
}

static __attribute__((noinline)) void critical_first(void) {
#pragma omp critical
  work(1);
  passed = 1;
}

static __attribute__((noinline)) void critical_second(void) {
#pragma omp critical
  work(1.1);
  passed = 2;
}

static void critical(int thread) { thread == 0 ? critical_first() : critical_second(); }

static __attribute__((noinline)) void alpha_first(void) {
#pragma omp critical(alpha)
  work(1);
  passed = 1;
}

static __attribute__((noinline)) void alpha_second(void) {
#pragma omp critical(alpha)
  work(1.1);
  passed = 2;
}

static void named_critical(int thread) { thread == 0 ? alpha_first() : alpha_second(); }

static void own_criticals(int thread) {
  if (thread == 0) {
#pragma omp critical(alpha)
    work(1);
  } else {
#pragma omp critical(beta)
    work(1);
  }
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(int thread);
  } faults[] = {{"omp-lock", omp_lock},           {"own-locks", own_locks}, {"tested-lock", tested_lock},
                {"omp-nest-lock", omp_nest_lock}, {"critical", critical},   {"named-critical", named_critical},
                {"own-criticals", own_criticals}};
  omp_init_lock(&locks[0]);
  omp_init_lock(&locks[1]);
  omp_init_nest_lock(&nest_lock);
  for (size_t i = 0; count > 2 && i < sizeof faults / sizeof *faults; ++i) {
    if (strcmp(faults[i].name, arguments[1]) != 0) continue;
    const int steps = atoi(arguments[2]);
#pragma omp parallel num_threads(2)
    for (int step = 0; step < steps; ++step) faults[i].run(omp_get_thread_num());
    return 0;
  }
  fprintf(stderr, "locks FAULT STEPS\n");
  return 2;
}

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

// One thread makes tasks that the others run, one of them long, and all wait for the end of the region.
static void long_task(int step) {
  (void)step;
#pragma omp parallel
#pragma omp single nowait
  for (int task = 0; task < 4; ++task) {
#pragma omp task firstprivate(task)
    work(task == 3 ? 8 : 0.5);
  }
}

// The thread that makes a task waits for it, since the other one runs it.
static void taskwait(int step) {
  (void)step;
  int has_begun = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(has_begun)
    {
#pragma omp atomic write
      has_begun = 1;
      work(4);
    }
    for (int is_there = 0; !is_there;) {
#pragma omp atomic read
      is_there = has_begun;
    }
#pragma omp taskwait
  }
}

// Tasks that wait for each other, beside a few that do not; who runs none waits at a barrier.
static void task_chain(int step) {
  int link = step;
#pragma omp parallel
#pragma omp single
  for (int task = 0; task < 10; ++task) {
#pragma omp task depend(inout : link)
    work(1);
    if (task < 3) {
#pragma omp task
      work(1);
    }
  }
}

// One thread waits for the chain that it makes, the other one at the barrier behind.
static void chain_at_taskwait(int step) {
  int link = step;
#pragma omp parallel
#pragma omp single
  {
    for (int task = 0; task < 8; ++task) {
#pragma omp task depend(inout : link)
      work(1);
    }
#pragma omp taskwait
  }
}

// Chains beside each other, as long as there are threads: each thread has a ready task nearly all the time.
static void many_chains(int step) {
  int links[16] = {step};
#pragma omp parallel
#pragma omp single
  for (int task = 0; task < 64; ++task) {
#pragma omp task depend(inout : links[task % 16])
    work(0.25);
  }
}

static void ordered(int step) {
  (void)step;
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 8; ++i) {
#pragma omp ordered
    work(0.7);
  }
}

static void copyprivate(int step) {
  double value = step;
#pragma omp parallel firstprivate(value)
  {
#pragma omp single copyprivate(value)
    {
      work(4);
      value += 1;
    }
    work(0.5);
  }
}

static void sections(int step) {
  (void)step;
#pragma omp parallel sections
  {
#pragma omp section
    work(6);
#pragma omp section
    work(1);
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
                {"lock", lock},
                {"long-task", long_task},
                {"taskwait", taskwait},
                {"task-chain", task_chain},
                {"chain-at-taskwait", chain_at_taskwait},
                {"many-chains", many_chains},
                {"ordered", ordered},
                {"copyprivate", copyprivate},
                {"sections", sections}};
  for (size_t i = 0; count > 2 && i < sizeof faults / sizeof *faults; ++i) {
    if (strcmp(faults[i].name, arguments[1]) != 0) continue;
    for (int step = 0; step < atoi(arguments[2]); ++step) faults[i].run(step);
    return 0;
  }
  fprintf(stderr, "planted FAULT STEPS\n");
  return 2;
}

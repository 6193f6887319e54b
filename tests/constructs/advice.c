/* A region whose threads have unequal work, shared out by the construct that is named by -DCONSTRUCT="...". */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static volatile double sink[64];

static void work(int units) {
  for (long i = 0; i < units * 2000L; i++) sink[63] = (double)i;
}

static void run(const char* construct) {
  if (!strcmp(construct, "static")) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 64; i++) work(i);
  } else if (!strcmp(construct, "dynamic")) {
#pragma omp parallel for schedule(dynamic, 40)
    for (int i = 0; i < 64; i++) work(30);
  } else if (!strcmp(construct, "few")) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 3; i++) work(500 * i);
  } else if (!strcmp(construct, "sections")) {
#pragma omp parallel sections
    {
#pragma omp section
      work(1000);
#pragma omp section
      work(200);
    }
  } else if (!strcmp(construct, "single")) {
#pragma omp parallel
    {
#pragma omp single
      work(1000);
    }
  } else if (!strcmp(construct, "taskloop")) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(40)
    for (int i = 0; i < 64; i++) work(20);
  } else if (!strcmp(construct, "tasks")) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
      work(1000);
#pragma omp task
      work(200);
    }
  } else if (!strcmp(construct, "ordered")) {
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < 64; i++) {
      work(10);
#pragma omp ordered
      work(10);
    }
  } else if (!strcmp(construct, "nested")) {
#pragma omp parallel
    {
      const int units = omp_get_thread_num() == 0 ? 10 : 200;
#pragma omp parallel for num_threads(1)
      for (int i = 0; i < 4; i++) work(units);
    }
  } else if (!strcmp(construct, "by_thread_number")) {
#pragma omp parallel
    work(omp_get_thread_num() == 0 ? 1000 : 100);
  } else {
    fprintf(stderr, "advice: unknown construct %s\n", construct);
  }
}

int main(void) {
  for (int round = 0; round < 5; round++) run(CONSTRUCT);
  return 0;
}

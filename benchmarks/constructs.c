/* What one OpenMP construct with nothing in it costs each thread: constructs NAME COUNT BATCHES prints ns. */
#include <omp.h>

#include "batches.h"

/* Keeps a body that does nothing from being taken out. */
#define NOTHING __asm__ volatile("" ::: "memory")

static void nothing(long count) {
  for (long i = 0; i < count; ++i) NOTHING;
}

static void region(long count) {
  for (long i = 0; i < count; ++i) {
#pragma omp parallel
    NOTHING;
  }
}

/* `count` chunks for each thread: what it costs a thread to get one, while the others get theirs. */
static void chunk(long count) {
  const int all = (int)count * omp_get_max_threads();
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < all; ++i) NOTHING;
}

/* Loops of one chunk for each thread. */
static void loop(long count) {
#pragma omp parallel
  for (long i = 0; i < count; ++i) {
    const int all = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
    for (int k = 0; k < all; ++k) NOTHING;
  }
}

static void barrier(long count) {
#pragma omp parallel
  for (long i = 0; i < count; ++i) {
#pragma omp barrier
    NOTHING;
  }
}

static void critical(long count) {
#pragma omp parallel
  for (long i = 0; i < count; ++i) {
#pragma omp critical
    NOTHING;
  }
}

static void single(long count) {
#pragma omp parallel
  for (long i = 0; i < count; ++i) {
#pragma omp single
    NOTHING;
  }
}

static void task(long count) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < count; ++i) {
#pragma omp task
    NOTHING;
  }
}

/* Regions with a loop of eight chunks and a barrier: a trace of it has every common kind of event. */
static void mixed(long count) {
  for (long i = 0; i < count; ++i) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
      for (int k = 0; k < 8; ++k) NOTHING;
#pragma omp barrier
    }
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*batch)(long count);
  } all[] = {{"nothing", nothing},   {"region", region}, {"loop", loop}, {"chunk", chunk}, {"barrier", barrier},
             {"critical", critical}, {"single", single}, {"task", task}, {"mixed", mixed}};
  if (argc != 4) {
    fprintf(stderr, "usage: %s NAME COUNT BATCHES\n", argv[0]);
    return 2;
  }
  const long count = whole_number(argv[0], "COUNT", argv[2], 100000000);
  const int batches = (int)whole_number(argv[0], "BATCHES", argv[3], most_batches);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    if (strcmp(argv[1], all[i].name) == 0) {
      time_batches(all[i].batch, count, batches);
      return 0;
    }
  fprintf(stderr, "%s: NAME: expected nothing, region, loop, chunk, barrier, critical, single, task or mixed, found '%s'\n",
          argv[0], argv[1]);
  return 2;
}

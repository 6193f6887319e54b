/* What the timed programs share: a clock, and the median of many short batches, which a switch to another program
 * in some of them does not move. */
#ifndef BENCHMARKS_BATCHES_H
#define BENCHMARKS_BATCHES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_batches = 1001 };

static inline double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static inline int in_order(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static inline long whole_number(const char* program, const char* name, const char* text, long most) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 1 || value > most) {
    fprintf(stderr, "%s: %s: expected a number from 1 to %ld, found '%s'\n", program, name, most, text);
    exit(2);
  }
  return value;
}

/* Prints the ns of one occurrence: the median over `batches` batches of `count`, after one that is not timed. */
static inline void time_batches(void (*batch)(long count), long count, int batches) {
  double took[most_batches];
  batch(count);
  for (int i = 0; i < batches; ++i) {
    const double began = now_ns();
    batch(count);
    took[i] = (now_ns() - began) / (double)count;
  }
  qsort(took, (size_t)batches, sizeof took[0], in_order);
  printf("%.3f\n", took[batches / 2]);
}

#endif

/* What one step of a program takes, measured while it makes some: what searches are judged on is recorded so
 * (benchmarks/surfaces.py). Short steps go together, as the tuner has it: 100 us of them are one measurement. C and C++. */
#ifndef WORKLOADS_MEASURED_H
#define WORKLOADS_MEASURED_H

#include <stdio.h>
#include <stdlib.h>

enum { most_measurements = 8192 };
#define SHORTEST_MEASUREMENT_S 1e-4

struct measurements {
  double began, until; /* s; of the measurement under way, of all */
  long steps;          /* since it began */
  int count;
  double took[most_measurements]; /* s a step */
};

/* After a step that does not count: it makes the team. */
static inline void begin_measuring(struct measurements* of, double seconds, double now) {
  of->began = now;
  of->until = now + seconds;
  of->steps = 0;
  of->count = 0;
}

/* After each further step. 0 when the time is over and there is a measurement. */
static inline int measure_step(struct measurements* of, double now) {
  ++of->steps;
  if (now - of->began >= SHORTEST_MEASUREMENT_S) {
    of->took[of->count++] = (now - of->began) / (double)of->steps;
    of->began = now;
    of->steps = 0;
  }
  return of->count < most_measurements && (now < of->until || of->count == 0);
}

static inline int measurement_order(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sorted, between two of them in proportion. */
static inline double measured_quantile(const struct measurements* of, double share) {
  const double place = share * (of->count - 1);
  const int low = (int)place;
  const int high = low + 1 < of->count ? low + 1 : low;
  return of->took[low] + (place - low) * (of->took[high] - of->took[low]);
}

static inline void print_measurements(struct measurements* of) {
  qsort(of->took, (size_t)of->count, sizeof of->took[0], measurement_order);
  printf("measurements=%d", of->count);
  static const int percents[] = {5, 25, 50, 75, 95};
  for (int i = 0; i < 5; ++i) printf(" step_q%02d_us=%.6g", percents[i], 1e6 * measured_quantile(of, percents[i] / 100.0));
  printf("\n");
}

#endif

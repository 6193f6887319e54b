/* Regions that are too short for threads, and one that is not; each is right with any number of members. For SECONDS.
 * tiny: some hundred nanoseconds; big: a millisecond or two; and a loop that is shared out on demand, within a region. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { few = 64, many = 150000, shared_out = 2000 };

static double next(double x) { return 0.5 * x + 1 / (x + 2); }

static void tiny(double* x) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < few; ++i) x[i] = next(x[i]);
}

static void big(double* x) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < many; ++i) x[i] = next(next(next(next(x[i]))));
}

static void on_demand(double* x) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < shared_out; ++i) x[i] = next(x[i]);
  }
}

static int differ(const double* x, int size, long steps) {
  double after = 0;
  for (long i = 0; i < steps; ++i) after = next(after);
  for (int i = 0; i < size; ++i)
    if (x[i] != after) return 1;
  return 0;
}

int main(int argc, char** argv) {
  const double until = omp_get_wtime() + (argc > 1 ? atof(argv[1]) : 1);
  double* const x = calloc(few, sizeof *x);
  double* const y = calloc(many, sizeof *y);
  double* const z = calloc(shared_out, sizeof *z);
  long steps = 0;
  for (; omp_get_wtime() < until; ++steps) {
    for (int i = 0; i < 500; ++i) tiny(x);
    big(y);
    on_demand(z);
  }
  const int is_wrong = differ(x, few, 500 * steps) || differ(y, many, 4 * steps) || differ(z, shared_out, steps);
  puts(is_wrong ? "wrong" : "right");
  return is_wrong;
}

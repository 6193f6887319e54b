/* Loops for steering, by name.
 *   tiny   iterations of some 20 ns, handed out CHUNK at a time (1: the mistake that is to be mended)
 *   copy   a balanced loop that is bound by memory
 *   even   a balanced loop that is not, of some 0.1 ms
 *   spin   short regions, whose threads wait for each other some 10,000 times a second
 *   sum    short regions with a reduction, in which clang's code calls the runtime once more
 *   levels regions of one function that take from 1 us to 50, as those of a multigrid
 *   many   40 different regions, each as short as spin's
 *   tree   no loop, but a tree of tasks whose leaves take less than 1 us
 */
#ifndef BENCHMARKS_LOOPS_H
#define BENCHMARKS_LOOPS_H

#include <stdlib.h>
#include <string.h>

static double some_20_ns(int i) {
  double x = i;
  for (int k = 0; k < 4; ++k) x = 1 + x / (1 + x);
  return x;
}

static double sum_of(const double* y, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += y[i];
  return sum;
}

static double tiny(int steps, int chunk) {
  enum { size = 20000 };
  static double y[size];
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(dynamic, chunk)
    for (int i = 0; i < size; ++i) y[i] = some_20_ns(i);
  return sum_of(y, size);
}

static double even(int steps) {
  enum { size = 50000 };
  static double y[size];
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < size; ++i) y[i] = some_20_ns(i);
  return sum_of(y, size);
}

static double copy(int steps) {
  enum { size = 1 << 21 };
  static double *a, *b;
  if (a == NULL) {
    a = malloc(size * sizeof *a);
    b = malloc(size * sizeof *b);
    if (a == NULL || b == NULL) exit(2);
    for (int i = 0; i < size; ++i) a[i] = i;
  }
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < size; ++i) b[i] = a[i] + step;
  return b[7] + b[size - 1];
}

static double spin(int steps) {
  static double y[2000];
  memset(y, 0, sizeof y);
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2000; ++i) y[i] += 1.0 / (1 + i + step);
  return sum_of(y, 2000);
}

static double sum(int steps) {
  long total = 0;
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static, 3) reduction(+ : total)
    for (int i = 0; i < 2000; ++i) total += (long)(i * 17 + step) % 7;
  return (double)total;
}

static double levels(int steps) {
  enum { finest = 1 << 17, coarsest = 8 };
  static double y[finest];
  for (int i = 0; i < finest; ++i) y[i] = i % 7;
  for (int step = 0; step < steps; ++step)
    for (int size = finest; size >= coarsest; size /= 2)
      for (int colour = 0; colour < 2; ++colour)
#pragma omp parallel for schedule(static)
        for (int i = 1 + colour; i < size - 1; i += 2) y[i] = 0.25 * (y[i - 1] + 2 * y[i] + y[i + 1]);
  return sum_of(y, finest);
}

#define OF_TEN(what, tens)                                                                                        \
  what(tens##0) what(tens##1) what(tens##2) what(tens##3) what(tens##4) what(tens##5) what(tens##6) what(tens##7) \
      what(tens##8) what(tens##9)
#define OF_FORTY(what) OF_TEN(what, 1) OF_TEN(what, 2) OF_TEN(what, 3) OF_TEN(what, 4)
#define REGION(number)                                                                                             \
  static void region_##number(double* y, int step) {                                                               \
    _Pragma("omp parallel for schedule(static)") for (int i = 0; i < 2000; ++i) y[i] += 1.0 / (number + i + step); \
  }
OF_FORTY(REGION)

static double many(int steps) {
  static double y[2000];
  memset(y, 0, sizeof y);
  for (int step = 0; step < steps; ++step) {
#define RUN(number) region_##number(y, step);
    OF_FORTY(RUN)
#undef RUN
  }
  return sum_of(y, 2000);
}
#undef REGION
#undef OF_FORTY
#undef OF_TEN

static double subtree(int depth, int number) {
  if (depth == 0) {
    double x = 0;
    for (int i = 0; i < 130; ++i) x += some_20_ns(number + i);
    return x;
  }
  double left, right;
#pragma omp task shared(left)
  left = subtree(depth - 1, 2 * number);
#pragma omp task shared(right)
  right = subtree(depth - 1, 2 * number + 1);
#pragma omp taskwait
  return left + right;
}

static double tree(int steps) {
  double total = 0;
  for (int step = 0; step < steps; ++step)
#pragma omp parallel
#pragma omp single
    total += subtree(8, 1);
  return total;
}

/* The sum that the loop makes, which must not change; -1: there is none of that name. */
static double run_loop(const char* name, int steps, int chunk) {
  if (strcmp(name, "tiny") == 0) return tiny(steps, chunk);
  if (strcmp(name, "copy") == 0) return copy(steps);
  if (strcmp(name, "even") == 0) return even(steps);
  if (strcmp(name, "spin") == 0) return spin(steps);
  if (strcmp(name, "sum") == 0) return sum(steps);
  if (strcmp(name, "levels") == 0) return levels(steps);
  if (strcmp(name, "many") == 0) return many(steps);
  if (strcmp(name, "tree") == 0) return tree(steps);
  return -1;
}

#endif

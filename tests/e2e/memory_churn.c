// Programs that ask for memory again and again, each in a way of its own, and say whether the sums are right.
// memory_churn MODE STEPS: temporaries (arrays of each step), vectors (that grow by copies), threads (arrays of each
// thread), once (the same work with memory that is kept), fresh (much memory, each page once).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { length = 5 * 1000 * 1000 };  // doubles: 40 MB, beyond what malloc keeps by itself

static double fill(double* values, long count, double value) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < count; ++i) sum += values[i] = value;
  return sum;
}

static double temporaries(int steps) {
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    double* const values = malloc(length * sizeof *values);
    sum += fill(values, length, 1) / length;
    free(values);
  }
  return sum;
}

static double vectors(int steps) {
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    double* values = NULL;
    long room = 0;
    while (room < length) {
      const long larger = room == 0 ? length / 4 : 2 * room;
      double* const grown = malloc((size_t)larger * sizeof *grown);
      if (room > 0) memcpy(grown, values, (size_t)room * sizeof *grown);
      for (long i = room; i < larger; ++i) grown[i] = 1;
      free(values);
      values = grown;
      room = larger;
    }
    sum += fill(values, length, 1) / length;
    free(values);
  }
  return sum;
}

static double threads(int steps) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int step = 0; step < steps; ++step) {
    double* const values = malloc(length * sizeof *values);
    for (long i = 0; i < length; ++i) values[i] = 1;
    for (long i = 0; i < length; ++i) sum += values[i];
    free(values);
  }
  return sum / length / omp_get_max_threads();
}

static double once(int steps) {
  double* const values = malloc(length * sizeof *values);
  double sum = 0;
  for (int step = 0; step < steps; ++step) sum += fill(values, length, 1) / length;
  free(values);
  return sum;
}

static double fresh(int steps) {
  const long count = (long)length * steps / 4;
  double* const values = malloc((size_t)count * sizeof *values);
  const double sum = fill(values, count, 1) / count;
  free(values);
  return sum * steps;
}

int main(int argc, char** argv) {
  static double (*const modes[])(int) = {temporaries, vectors, threads, once, fresh};
  static const char* const names[] = {"temporaries", "vectors", "threads", "once", "fresh"};
  const int steps = argc > 2 ? atoi(argv[2]) : 10;
  for (int i = 0; i < 5; ++i)
    if (argc > 1 && strcmp(argv[1], names[i]) == 0) {
      const double sum = modes[i](steps);
      return printf(sum == steps ? "right\n" : "wrong: %g\n", sum), sum != steps;
    }
  return printf("unknown mode\n"), 2;
}

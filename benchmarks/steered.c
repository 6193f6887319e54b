/* Loops for steering: NAME STEPS [CHUNK]. Prints a sum that must not change.
 *   tiny   iterations of some 20 ns, handed out CHUNK at a time (1: the mistake that is to be mended)
 *   copy   a balanced loop that is bound by memory
 *   spin   short regions, whose threads wait for each other some 10,000 times a second
 *   levels regions of one function that take from 1 us to 50, as those of a multigrid
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double tiny(int steps, int chunk) {
  enum { size = 20000 };
  static double y[size];
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(dynamic, chunk)
    for (int i = 0; i < size; ++i) {
      double x = i;
      for (int k = 0; k < 4; ++k) x = 1 + x / (1 + x);
      y[i] = x;
    }
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += y[i];
  return sum;
}

static double copy(int steps) {
  enum { size = 1 << 21 };
  double *const a = malloc(size * sizeof *a), *const b = malloc(size * sizeof *b);
  if (a == NULL || b == NULL) exit(2);
  for (int i = 0; i < size; ++i) a[i] = i;
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < size; ++i) b[i] = a[i] + step;
  const double sum = b[7] + b[size - 1];
  free(a);
  free(b);
  return sum;
}

static double spin(int steps) {
  static double y[2000];
  for (int step = 0; step < steps; ++step)
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 2000; ++i) y[i] += 1.0 / (1 + i + step);
  double sum = 0;
  for (int i = 0; i < 2000; ++i) sum += y[i];
  return sum;
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
  double sum = 0;
  for (int i = 0; i < finest; ++i) sum += y[i];
  return sum;
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  const int steps = argc > 2 ? atoi(argv[2]) : 0, chunk = argc > 3 ? atoi(argv[3]) : 1;
  if (steps < 1 || chunk < 1) return 2;
  double sum;
  if (strcmp(name, "tiny") == 0)
    sum = tiny(steps, chunk);
  else if (strcmp(name, "copy") == 0)
    sum = copy(steps);
  else if (strcmp(name, "spin") == 0)
    sum = spin(steps);
  else if (strcmp(name, "levels") == 0)
    sum = levels(steps);
  else
    return 2;
  printf("%.17g\n", sum);
  return 0;
}

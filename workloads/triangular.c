/* A triangular loop: iteration i costs i. Under a static schedule the last thread has most of the work. */
#include "common.h"

static double row(const double* x, int i) {
  double sum = 0;
  for (int k = 0; k <= i; ++k) sum += x[k] / (1.0 + i - k);
  return sum;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 8000, 5);
  double* const x = malloc(sizeof *x * (size_t)o.size);
  double* const y = malloc(sizeof *y * (size_t)o.size);
  if (x == NULL || y == NULL) return 2;
  for (int i = 0; i < o.size; ++i) x[i] = sin(0.001 * i);
  const double began = seconds();
  double answer = 0, serial = 0;
  for (int step = 0; another_step(&o, step); ++step) {
    SCHEDULED_LOOP(o.how, , i, o.size, { y[i] = row(x, i); })
  }
  const double took = seconds() - began;
  for (int i = 0; i < o.size; ++i) answer += y[i];
  if (o.check)
    for (int i = 0; i < o.size; ++i) serial += row(x, i);
  free(x);
  free(y);
  return conclude("triangular", answer, serial, o.check, took);
}

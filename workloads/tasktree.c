/* A tree of explicit tasks: Fibonacci with a cut-off, as every tutorial has it. --size is n. */
#include "common.h"

static long serial_fib(int n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

static long task_fib(int n, int cut) {
  if (n <= cut) return serial_fib(n);
  long a, b;
#pragma omp task shared(a)
  a = task_fib(n - 1, cut);
#pragma omp task shared(b)
  b = task_fib(n - 2, cut);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 32, 1);
  const double began = seconds();
  long answer = 0;
  for (int step = 0; another_step(&o, step); ++step) {
#pragma omp parallel
#pragma omp single
    answer = task_fib(o.size, o.size - 10);
  }
  const double took = seconds() - began;
  return conclude("tasktree", (double)answer, o.check ? (double)serial_fib(o.size) : 0, o.check, took);
}

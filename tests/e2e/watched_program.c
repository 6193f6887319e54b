// Runs until a file exists, or for a time, and says whether its answer is right: regions that are uneven, or a convoy
// before a critical region. Usage: watched_program uneven|convoy SECONDS
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rows = 200, turns = 20 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// More work for later rows; always 1.
static long work(int row) {
  double sum = 0;
  for (int i = 1; i < row * 100; ++i) sum += 1.0 / i;
  return sum >= 0 ? 1 : 0;
}

static int smallest_team = 1 << 30, largest_team = 0;

static long uneven(void) {
  long sum = 0;
#pragma omp parallel
  {
#pragma omp single
    {
      const int members = omp_get_num_threads();
      if (members < smallest_team) smallest_team = members;
      if (members > largest_team) largest_team = members;
    }
#pragma omp for schedule(dynamic, 1) reduction(+ : sum)
    for (int row = 0; row < rows; ++row) sum += work(row);
  }
  return sum;
}

static long convoy(void) {
  long sum = 0;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < rows * turns; ++row) {
#pragma omp critical(table)
    sum += work(rows);
  }
  return sum / turns;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const double end = now() + atof(arguments[2]);
  const int is_convoy = strcmp(arguments[1], "convoy") == 0;
  long calls = 0, sum = 0;
  while (now() < end) {
    sum += is_convoy ? convoy() : uneven();
    calls += 1;
  }
  printf("%s, teams of %d to %d\n", sum == calls * rows ? "right" : "wrong", smallest_team, largest_team);
  return sum == calls * rows ? 0 : 1;
}

// A static loop of GCC's that shows whether it was run in small blocks, one after the other: when its middle is reached, how
// much of its first half is done? A block of each of two threads: any part. Of blocks that are taken in order: all but what the other
// thread is at.
#include <stdio.h>
#include <stdlib.h>

enum { size = 6400 };

static volatile char is_done[size];
static volatile int done_before_middle;
static double sums[size];

static void work(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 1; k <= 100; ++k) sum += 1.0 / (i + k);
    sums[i] += sum;
    if (i == n / 2) {
      int done = 0;
      for (int k = 0; k < n / 2; ++k) done += is_done[k];
      done_before_middle = done;
    }
    is_done[i] = 1;
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20, blocks = argc > 2 ? atoi(argv[2]) : 32;
  int in_order = 0;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) is_done[i] = 0;
    work(size);
    in_order += done_before_middle >= size / 2 - size / blocks;
  }
  for (int i = 0; i < size; ++i) sum += sums[i];
  fprintf(stderr, "in order: %d of %d\n", in_order, rounds);
  printf("%a\n", sum);
  return 0;
}

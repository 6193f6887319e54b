/* A loop of loops.h: NAME STEPS [CHUNK]. Prints its sum. */
#include <stdio.h>

#include "loops.h"

int main(int argc, char** argv) {
  const int steps = argc > 2 ? atoi(argv[2]) : 0, chunk = argc > 3 ? atoi(argv[3]) : 1;
  if (steps < 1 || chunk < 1) return 2;
  const double sum = run_loop(argv[1], steps, chunk);
  if (sum < 0) return 2;
  printf("%.17g\n", sum);
  return 0;
}

/* A vector loop that is forked and joined again and again: --size is the grain, elements of two arrays of doubles a region;
 * --updates in place of --steps: of elements, in all, so that grains can be compared. */
#include "common.h"

enum { looked_at = 64 };

static double next(double x, double y) { return 0.5 * x + y; }

/* Takes --updates N out of the arguments. 0: it is not among them. */
static double read_updates(int* argc, char** argv) {
  for (int i = 1; i < *argc; ++i)
    if (strcmp(argv[i], "--updates") == 0) {
      char* end = NULL;
      const double updates = i + 1 < *argc ? strtod(argv[i + 1], &end) : 0;
      if (!(updates >= 1 && updates <= 1e15) || *end != '\0') {
        fprintf(stderr, "%s: --updates: expected a number from 1 to 1e15, found '%s'\n", argv[0],
                i + 1 < *argc ? argv[i + 1] : "");
        exit(2);
      }
      for (int k = i + 2; k < *argc; ++k) argv[k - 2] = argv[k];
      *argc -= 2;
      return updates;
    }
  return 0;
}

int main(int argc, char** argv) {
  const double updates = read_updates(&argc, argv);
  struct options o = read_options(argc, argv, 100000, 2000);
  if (updates > 0) o.steps = (int)fmin(fmax(updates / o.size, 1), 1e9);
  double* const x = calloc((size_t)o.size, sizeof *x);
  double* const y = malloc(sizeof *y * (size_t)o.size);
  if (x == NULL || y == NULL) return 2;
  for (int i = 0; i < o.size; ++i) y[i] = sin(0.001 * i);
  const double began = seconds();
  for (int step = 0; step < o.steps; ++step) {
    SCHEDULED_LOOP(o.how, , i, o.size, { x[i] = next(x[i], y[i]); })
  }
  const double took = seconds() - began;
  double answer = 0, serial = 0;
  for (int k = 0; k < looked_at; ++k) {
    const int i = (int)((long)k * o.size / looked_at);
    double alone = 0;
    for (int step = 0; o.check && step < o.steps; ++step) alone = next(alone, y[i]);
    answer += x[i];
    serial += alone;
  }
  free(x);
  free(y);
  return conclude("vector_loop", answer, serial, o.check, took);
}

/* A vector loop that is forked and joined again and again: --size is the grain, elements of two arrays of doubles a region.
 * --window: beside others. It says "ready", is told on standard input when to begin, in seconds of the monotonic clock, and
 * for how many, and says how many updates of elements it got done and what CPU time they took; --steps does not matter then.
 */
#include "common.h"

enum { looked_at = 64, most_steps = 1000000000 };

static double next(double x, double y) { return 0.5 * x + y; }

/* Whether --window is among the arguments; takes it out. */
static int read_window(int* argc, char** argv) {
  for (int i = 1; i < *argc; ++i)
    if (strcmp(argv[i], "--window") == 0) {
      for (int k = i + 1; k < *argc; ++k) argv[k - 1] = argv[k];
      --*argc;
      return 1;
    }
  return 0;
}

/* When to end, after having waited for when to begin. */
static double wait_for_window(const char* program) {
  double begin = 0, length = 0;
  puts("ready");
  fflush(stdout);
  if (scanf("%lf %lf", &begin, &length) != 2 || !(length > 0)) {
    fprintf(stderr, "%s: --window: expected two numbers on standard input, when to begin and for how long\n", program);
    exit(2);
  }
  const double left = begin - seconds();
  if (left > 0) {
    const struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&pause, NULL);
  }
  return begin + length;
}

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const int has_window = read_window(&argc, argv);
  struct options o = read_options(argc, argv, 100000, 2000);
  double* const x = malloc(sizeof *x * (size_t)o.size);
  double* const y = malloc(sizeof *y * (size_t)o.size);
  if (x == NULL || y == NULL) return 2;
  for (int i = 0; i < o.size; ++i) x[i] = 0, y[i] = sin(0.001 * i);
  const double until = has_window ? wait_for_window(argv[0]) : HUGE_VAL;
  if (has_window) o.steps = most_steps;
  const double began = seconds(), cpu_before = cpu_seconds();
  int done = 0;
  do {
    SCHEDULED_LOOP(o.how, , i, o.size, { x[i] = next(x[i], y[i]); })
    ++done;
  } while (has_window ? done < o.steps && seconds() < until : another_step(&o, done));
  const double took = seconds() - began;
  if (has_window) printf("updates=%.0f seconds=%.6f cpu=%.6f\n", (double)done * o.size, took, cpu_seconds() - cpu_before);
  double answer = 0, serial = 0;
  for (int k = 0; k < looked_at; ++k) {
    const int i = (int)((long)k * o.size / looked_at);
    double alone = 0, before = -1;
    /* Once a step changes nothing, none does. */
    for (int step = 0; o.check && step < done && alone != before; ++step) before = alone, alone = next(alone, y[i]);
    answer += x[i];
    serial += alone;
  }
  free(x);
  free(y);
  return conclude("vector_loop", answer, serial, o.check, took);
}

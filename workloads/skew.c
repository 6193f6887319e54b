/* How far apart the threads of a team are: appendix A of Severance (1996). A parallel loop of some 40 us (--size elements)
 * is run
 * --steps times (200 there); of each instance every thread notes when it enters and when it leaves. After each instance a
 * region has nothing but a barrier in it. Printed, in microseconds, as median, 90th percentile and greatest: whole    from
 * before the loop until after it spawn    from before the loop until the last thread is in it exit     from when the last
 * thread is done until after the loop passage  of the barrier: from the first thread in until the last thread out */
#include <omp.h>

#include "common.h"

enum { most_threads = 1024 };

/* Of one thread: on cache lines of its own. */
struct noted {
  _Alignas(128) double in, out;
};
static struct noted notes[most_threads];

struct span {
  double first_in, last_in, last_out;
};

static struct span span_of(int threads) {
  struct span all = {notes[0].in, notes[0].in, notes[0].out};
  for (int i = 1; i < threads; ++i) {
    if (notes[i].in < all.first_in) all.first_in = notes[i].in;
    if (notes[i].in > all.last_in) all.last_in = notes[i].in;
    if (notes[i].out > all.last_out) all.last_out = notes[i].out;
  }
  return all;
}

static void print_times(const char* name, double* took, int count) {
  qsort(took, (size_t)count, sizeof *took, measurement_order);
  printf(" %s_us=%.3f %s_q90_us=%.3f %s_max_us=%.3f", name, 1e6 * took[count / 2], name,
         1e6 * took[(int)(0.9 * (count - 1))], name, 1e6 * took[count - 1]);
}

static double next(double x, double y) { return 0.5 * x + y; }

int main(int argc, char** argv) {
  const struct options o = read_options(argc, argv, 60000, 200);
  double* const x = calloc((size_t)o.size, sizeof *x);
  double* const took = malloc(4 * sizeof *took * (size_t)o.steps);
  if (x == NULL || took == NULL || omp_get_max_threads() > most_threads) {
    fprintf(stderr, "%s: expected memory for the loop and at most %d threads\n", argv[0], most_threads);
    return 2;
  }
  double *const whole = took, *const spawn = whole + o.steps, *const leave = spawn + o.steps,
                *const passage = leave + o.steps;
  double all_threads = 0;
  const double first = seconds();
  for (int step = 0; step < o.steps; ++step) {
    int threads = 1;
    const double fork = seconds();
#pragma omp parallel
    {
      struct noted* const mine = &notes[omp_get_thread_num()];
      mine->in = seconds();
      if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
#pragma omp for schedule(static) nowait
      for (int i = 0; i < o.size; ++i) x[i] = next(x[i], i);
      mine->out = seconds();
    }
    const double join = seconds();
    const struct span loop = span_of(threads);
    whole[step] = join - fork;
    spawn[step] = loop.last_in - fork;
    leave[step] = join - loop.last_out;
    all_threads += threads;
#pragma omp parallel
    {
      struct noted* const mine = &notes[omp_get_thread_num()];
      if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
      mine->in = seconds();
#pragma omp barrier
      mine->out = seconds();
    }
    const struct span barrier = span_of(threads);
    passage[step] = barrier.last_out - barrier.first_in;
  }
  const double all = seconds() - first;
  printf("threads=%.2f", all_threads / o.steps);
  print_times("whole", whole, o.steps);
  print_times("spawn", spawn, o.steps);
  print_times("exit", leave, o.steps);
  print_times("passage", passage, o.steps);
  printf("\n");
  double answer = 0, serial = 0;
  for (int i = 0; i < o.size; i += 1 + o.size / 64) {
    double alone = 0, before = -1;
    for (int step = 0; o.check && step < o.steps && alone != before; ++step) before = alone, alone = next(alone, i);
    answer += x[i];
    serial += alone;
  }
  free(x);
  free(took);
  return conclude("skew", answer, serial, o.check, all);
}

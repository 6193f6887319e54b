// Constructs in which threads finish a loop at different times, each timed by the program itself: "TRIP SECONDS SECONDS
// ...", by the trip count of its loop and in the order of its executions. The thread that measures (number 0) has the light
// iterations.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_rounds = 2000, first_trip = 1000, constructs = 10, most_threads = 64 };
static double times[constructs][most_rounds];
static double result[2 * first_trip];

static double work(int i) {
  double sum = 0;
  for (int k = 0; k < i; ++k) sum += 1.0 / (1 + k);
  return sum;
}

// The last iteration takes as long as a third of all.
static double work_of_last(int i, int trip) { return work(i + 1 == trip ? 100 * trip : trip / 5); }

static double earliest(const double* begun, int threads) {
  double found = begun[0];
  for (int i = 1; i < threads; ++i)
    if (begun[i] < found) found = begun[i];
  return found;
}

static double reduction(int trip) {
  double sum = 0;
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : sum)
  for (int i = 0; i < trip; ++i) sum += work(i);
  return sum;
}

static double combined_dynamic(int trip) {
  double sum = 0;
#pragma omp parallel for schedule(dynamic, 10) reduction(max : sum)
  for (int i = 0; i < trip; ++i) {
    const double one = work_of_last(i, trip);
    sum = sum > one ? sum : one;
  }
  return sum;
}

static double nowait_chain(int trip) {
#pragma omp parallel
  {
#pragma omp for schedule(SCHEDULE) nowait
    for (int i = 0; i < trip; ++i) result[i] = work(i);
#pragma omp for schedule(SCHEDULE) nowait
    for (int i = 0; i < trip + 1; ++i) result[i] += work(i);
  }
  return result[trip];
}

// Whatever waits in the region inside waits for nobody outside of it.
static double region_inside(int trip, int is_parallel) {
  double sum = 0;
#pragma omp parallel
  {
#pragma omp for schedule(SCHEDULE) nowait
    for (int i = 0; i < trip; ++i) result[i] = work(i);
#pragma omp parallel num_threads(2) if (is_parallel)
    {
#pragma omp barrier
      if (omp_get_thread_num() == 0) {
#pragma omp atomic
        sum += 1;
      }
    }
  }
  return sum;
}

int main(int count, char** arguments) {
  const int rounds = count > 1 ? atoi(arguments[1]) : 100;
  double sum = 0;
  if (rounds > most_rounds || omp_get_max_threads() > most_threads) return 1;
  omp_set_max_active_levels(2);
  for (int round = 0; round < rounds; ++round) {
    const double begin = omp_get_wtime();
    sum += reduction(first_trip);
    const double after_reduction = omp_get_wtime();
    sum += combined_dynamic(first_trip + 1);
    const double after_combined = omp_get_wtime();
    sum += nowait_chain(first_trip + 2);
    const double after_chain = omp_get_wtime();
    sum += region_inside(first_trip + 4, 1);
    const double after_nested = omp_get_wtime();
    sum += region_inside(first_trip + 5, 0);
    const double after_serialized = omp_get_wtime();
    times[0][round] = after_reduction - begin;
    times[1][round] = after_combined - after_reduction;
    times[2][round] = times[3][round] = after_chain - after_combined;
    times[4][round] = after_nested - after_chain;
    times[5][round] = after_serialized - after_nested;

    // Two reductions of one region, of a scalar and of an array: from the first thread's begin to where thread 0 leaves.
    double one = 0, many[4] = {0};
    double begun[2][most_threads], left[2] = {0};
    int threads = 0;
#pragma omp parallel
    {
      const int me = omp_get_thread_num();
      begun[0][me] = omp_get_wtime();
#pragma omp for schedule(SCHEDULE_BETWEEN) reduction(+ : one)
      for (int i = 0; i < first_trip + 6; ++i) one += work(i);
      begun[1][me] = omp_get_wtime();
#pragma omp for schedule(SCHEDULE_BETWEEN) reduction(+ : many)
      for (int i = 0; i < first_trip + 7; ++i) many[i % 4] += work(i);
      if (me == 0) {
        left[0] = begun[1][me];
        left[1] = omp_get_wtime();
        threads = omp_get_num_threads();
      }
    }
    times[6][round] = left[0] - earliest(begun[0], threads);
    times[7][round] = left[1] - earliest(begun[1], threads);
    sum += one + many[0] + many[1] + many[2] + many[3];
  }
  fprintf(stderr, "%.17g\n", sum);
  for (int i = 0; i < 8; ++i) {
    printf("%d", first_trip + i);
    for (int round = 0; round < rounds; ++round) printf(" %.9f", times[i][round]);
    printf("\n");
  }
  return 0;
}

/* Relies on the number of threads that it is told, in every way that is allowed: wrong answers where that is not kept.
 *   asks        sizes an array by omp_get_max_threads() before each region, and reads all of it
 *   asks-once   only once, before the first
 *   asks-twice  at two places: one keeps its array, of the size that it was told first, for good
 *   procs       by omp_get_num_procs(), once
 *   clause      num_threads(3)
 *   sets        omp_set_num_threads(3)
 *   believes-clause, believes-sets   any number is right, though it says 3 itself
 *   believes    nothing: any number is right
 *   pthreads    a second thread with regions of its own */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int wrong, least = 1 << 30, most, own;

static void expect(int is_right, const char* what, int found, int wanted) {
  if (!is_right && wrong++ < 5) fprintf(stderr, "%s: %d, expected %d\n", what, found, wanted);
}

/* Each member writes its own place; the whole array is read. */
static void fill(long* sums, int size, const char* what) {
  int members = 0;
  for (int i = 0; i < size; ++i) sums[i] = -1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
#pragma omp atomic
    members += 1;
    if (me < size) sums[me] = me;
#pragma omp parallel num_threads(2) if (me == 0)
    {
#pragma omp atomic
      sums[0] += 0;
    }
  }
  long sum = 0;
  for (int i = 0; i < size; ++i) sum += sums[i];
  expect(members == size, what, members, size);
  expect(sum == (long)size * (size - 1) / 2, what, (int)sum, size * (size - 1) / 2);
  if (members < least) least = members;
  if (members > most) most = members;
}

static void count(int wanted) {
  int members = 0, by_itself = 0;
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    by_itself = omp_get_num_threads();
#pragma omp atomic
    members += 1;
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < 1000; ++i) sum += i;
#pragma omp for
    for (int i = 0; i < 1000; ++i) sum += i;
  }
  expect(sum == 999000, "sum", (int)sum, 999000);
  expect(members == by_itself, "omp_get_num_threads()", by_itself, members);
  if (wanted > 0) expect(members == wanted, "members", members, wanted);
  expect(members <= own, "members", members, own);
  if (members < least) least = members;
  if (members > most) most = members;
}

static void clause(void) {
  int members = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp atomic
    members += 1;
  }
  expect(members == 3, "num_threads(3)", members, 3);
  if (members < least) least = members;
  if (members > most) most = members;
}

/* Says how many it wants, and takes what it gets. */
static void believe_clause(void) {
  int members = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp atomic
    members += 1;
  }
  expect(members <= 3, "num_threads(3)", members, 3);
  if (members < least) least = members;
  if (members > most) most = members;
}

static volatile int is_over;
static volatile long others_regions;
static void* other(void* arrays) {
  (void)arrays;
  while (!is_over) {
    int members = 0;
#pragma omp parallel
    {
#pragma omp atomic
      members += 1;
    }
    expect(members == own, "of another thread", members, own);
    ++others_regions;
  }
  return NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void size_anew(void) {
  const int size = omp_get_max_threads();
  long* const sums = calloc((size_t)size, sizeof *sums);
  fill(sums, size, "asks");
  free(sums);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "asks";
  const double enough_s = argc > 2 ? atof(argv[2]) : 1;
  const char* const environment = getenv("OMP_NUM_THREADS");
  own = environment == NULL ? 1 << 20 : atoi(environment);
  int size = 0;
  long* sums = NULL;
  if (strcmp(how, "asks-once") == 0 || strcmp(how, "asks-twice") == 0) size = omp_get_max_threads();
  if (strcmp(how, "procs") == 0) {
    /* As many as that: the clause says nothing else than what it was told. */
    size = omp_get_num_procs();
    expect(size >= 1, "omp_get_num_procs()", size, 1);
  }
  if (strcmp(how, "sets") == 0 || strcmp(how, "believes-sets") == 0) omp_set_num_threads(3);
  if (size > 0) sums = calloc((size_t)size, sizeof *sums);
  pthread_t second;
  if (strcmp(how, "pthreads") == 0 && pthread_create(&second, NULL, other, NULL) != 0) return 2;
  const double begin = seconds();
  const long others_wanted = strcmp(how, "pthreads") == 0 ? 100 : 0;
  long regions = 0;
  for (; seconds() - begin < enough_s || regions < 1000 || others_regions < others_wanted; ++regions) {
    if (strcmp(how, "asks") == 0)
      size_anew();
    else if (strcmp(how, "asks-once") == 0)
      fill(sums, size, "asks-once");
    else if (strcmp(how, "asks-twice") == 0)
      size_anew(), fill(sums, size, "asks-twice");
    else if (strcmp(how, "clause") == 0)
      clause();
    else if (strcmp(how, "believes-clause") == 0)
      believe_clause();
    else
      count(strcmp(how, "sets") == 0 ? 3 : 0);
  }
  is_over = 1;
  if (strcmp(how, "pthreads") == 0) pthread_join(second, NULL);
  printf("%s\n", wrong == 0 ? "right" : "wrong");
  fprintf(stderr, "%ld regions of %d to %d members\n", regions, least, most);
  return wrong != 0;
}

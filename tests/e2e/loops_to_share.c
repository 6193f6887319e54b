/* Every loop that can be shared out anew while the program runs: each iteration exactly once, every time.
 * With --blocks: says which iterations of a static loop the threads got at last. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int wrong;
static unsigned char* seen;
static void check(const char* what, long trip) {
  for (long i = 0; i < trip; ++i) {
    if (seen[i] != 1 && wrong++ < 20) fprintf(stderr, "%s: iteration %ld of %ld ran %d times\n", what, i, trip, seen[i]);
    seen[i] = 0;
  }
}
static volatile double sink;
static void work(long i) {
  double s = 0;
  for (long k = 0; k < (i & 63) * 2; ++k) s += k;
  if (s < 0) sink = s;
}
#define HIT(i)                                         \
  do {                                                 \
    __atomic_fetch_add(&seen[i], 1, __ATOMIC_RELAXED); \
    work(i);                                           \
  } while (0)
#define STR(x) #x
#define LOOP(name, type, from, cond, step, index, trip, clause)                               \
  do {                                                                                        \
    _Pragma(STR(omp parallel for clause)) for (type i = from; cond; step) HIT((long)(index)); \
    check(name, trip);                                                                        \
    _Pragma("omp parallel") {                                                                 \
      _Pragma(STR(omp for clause)) for (type i = from; cond; step) HIT((long)(index));        \
      _Pragma("omp single") check(name " in region", trip);                                   \
      _Pragma(STR(omp for nowait clause)) for (type i = from; cond; step) HIT((long)(index)); \
    }                                                                                         \
    check(name " nowait", trip);                                                              \
  } while (0)
#define ALL(clause)                                                                                                    \
  LOOP("int " #clause, int, 0, i < n, ++i, i, n, clause);                                                              \
  LOOP("int down " #clause, int, n - 1, i >= 0, --i, n - 1 - i, n, clause);                                            \
  LOOP("int by 3 " #clause, int, 5, i < 5 + 3 * n, i += 3, (i - 5) / 3, n, clause);                                    \
  LOOP("int by -7 " #clause, int, 7 * n, i > 0, i -= 7, (7 * n - i) / 7, n, clause);                                   \
  LOOP("unsigned " #clause, unsigned, 0u, i < (unsigned)n, ++i, i, n, clause);                                         \
  LOOP("unsigned high " #clause, unsigned, UINT_MAX - (unsigned)n, i < UINT_MAX, ++i, i - (UINT_MAX - (unsigned)n), n, \
       clause);                                                                                                        \
  LOOP("long " #clause, long, 10000000000L, i < 10000000000L + n, ++i, i - 10000000000L, n, clause);                   \
  LOOP("long down by 5 " #clause, long, 5L * n, i > 0, i -= 5, (5L * n - i) / 5, n, clause);                           \
  LOOP("ull " #clause, unsigned long long, ULLONG_MAX - (unsigned long long)n, i < ULLONG_MAX, ++i,                    \
       i - (ULLONG_MAX - (unsigned long long)n), n, clause);                                                           \
  LOOP("ull down " #clause, unsigned long long, (unsigned long long)n, i > 0, --i, n - i, n, clause)
static int blocks(int rounds, int n) {
  int begin[64], end[64], threads = 1;
  double sum = 0;
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel reduction(+ : sum)
    {
      const int me = omp_get_thread_num();
      int first = -1, last = -1;
      threads = omp_get_num_threads();
#pragma omp for schedule(static)
      for (int i = 0; i < n; ++i) {
        if (first < 0) first = i;
        last = i;
        for (int k = 0; k < i; ++k) sum += 1.0 / (1 + i + k);
      }
      begin[me] = first;
      end[me] = last + 1;
    }
  }
  for (int t = 0; t < threads; ++t) printf("%d-%d ", begin[t], end[t]);
  printf("sum %.17g\n", sum);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 3 && strcmp(argv[1], "--blocks") == 0) return blocks(atoi(argv[2]), atoi(argv[3]));
  const int rounds = argc > 1 ? atoi(argv[1]) : 50, n = argc > 2 ? atoi(argv[2]) : 1000;
  seen = calloc((size_t)n + 1, 1);
  for (int r = 0; r < rounds; ++r) {
    ALL(schedule(static));
    ALL(schedule(static, 3));
    ALL(schedule(dynamic));
    ALL(schedule(dynamic, 5));
    ALL(schedule(guided));
    ALL(schedule(guided, 4));
    ALL(schedule(runtime));
    ALL(schedule(monotonic : dynamic));
    // lastprivate, reductions, identical static loops without a barrier between them
    int last = -1;
    long sum = 0;
#pragma omp parallel for schedule(monotonic : dynamic) lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
      last = i;
      sum += i;
      work(i);
    }
    if (last != n - 1 || sum != (long)n * (n - 1) / 2) {
      ++wrong;
      fprintf(stderr, "dynamic: last %d sum %ld\n", last, sum);
    }
    last = -1;
    sum = 0;
#pragma omp parallel for lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
      last = i;
      sum += i;
      work(i * (long)i / n);
    }
    if (last != n - 1 || sum != (long)n * (n - 1) / 2) {
      ++wrong;
      fprintf(stderr, "static: last %d sum %ld\n", last, sum);
    }
    static int by[1 << 20];
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < n; ++i) {
        by[i] = omp_get_thread_num();
        work(i / 8);
      }
#pragma omp for schedule(static) nowait
      for (int i = 0; i < n; ++i)
        if (by[i] != omp_get_thread_num()) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 4) ordered
      for (int i = 0; i < 64; ++i) {
#pragma omp ordered
        HIT(i);
      }
#pragma omp single
      check("ordered", 64);
#pragma omp for schedule(dynamic, 2)
      for (int i = 0; i < 64; ++i) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
        for (int k = 0; k < 8; ++k) work(k);
        HIT(i);
      }
    }
    check("with regions inside", 64);
  }
  printf(wrong ? "WRONG %d\n" : "right\n", wrong);
  return wrong != 0;
}

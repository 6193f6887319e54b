// Static loops of GCC's with reductions, in whatever number of calls they are run. Every answer is compared with the serial
// one: that of integers, of the largest and of bits must be the same, sums of floating point within what rounding makes of
// them.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 2000 };

static double in[size];
static int whole[size];
static int wrong = 0;

static void expect(int holds, const char* what) {
  if (!holds && !wrong++) printf("wrong: %s\n", what);
}
static int is_near(double one, double other) { return fabs(one - other) <= 1e-9 * (1 + fabs(other)); }

static double cost(int i) {
  double sum = 0;
  for (int k = 0; k <= i / 2; ++k) sum += in[k] / (1.0 + i - k);
  return sum;
}

static double triangular(int n) {
  double sum = 1;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += cost(i);
  return sum;
}
static long integers(int n) {
  long sum = 5;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += (long)whole[i] * i + (cost(i) > 1e9);
  return sum;
}
static double largest(int n) {
  double most = -1;
#pragma omp parallel for reduction(max : most)
  for (int i = 0; i < n; ++i) {
    const double each = cost(i);
    most = each > most ? each : most;
  }
  return most;
}
static int smallest(int n) {
  int least = 1 << 30;
#pragma omp parallel for reduction(min : least)
  for (int i = 0; i < n; ++i) {
    const int each = whole[i] + (cost(i) > 1e9);
    least = each < least ? each : least;
  }
  return least;
}
static double several(int n, int* most, double* product) {
  double sum = 0, all = 1;
  int last = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : last) reduction(* : all)
  for (int i = 0; i < n; ++i) {
    const double each = cost(i);
    sum += each;
    all *= 1 + 1e-6 * each;
    if (each > 0 && i > last) last = i;
  }
  *most = last, *product = all;
  return sum;
}
static void forces(int n, double* force) {
#pragma omp parallel for reduction(+ : force[ : 3])
  for (int i = 0; i < n; ++i) {
    const double each = cost(i);
    force[0] += each;
    force[1] -= each;
    force[2] += 2 * each;
  }
}
static unsigned bits(int n) {
  unsigned all = 0;
#pragma omp parallel for reduction(| : all)
  for (int i = 0; i < n; ++i) all |= (unsigned)whole[i] << (cost(i) > 1e9);
  return all;
}
static double by_hand(int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += cost(i);
#pragma omp critical
    sum += mine;
  }
  return sum;
}
static double two_loops(int n, long* other) {
  double one = 0;
  long two = 0;
#pragma omp parallel
  {
#pragma omp for nowait reduction(+ : one)
    for (int i = 0; i < n; ++i) one += cost(i);
#pragma omp for nowait reduction(+ : two)
    for (int i = 0; i < n; ++i) two += whole[i];
  }
  *other = two;
  return one;
}
// Not fit: how many threads there are is seen.
static int threads_counted(int n, double* to) {
  int threads = 0;
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) to[i] = cost(i);
#pragma omp atomic
    threads += 1;
  }
  return threads;
}
static int threads_that_found(int n) {
  int found = 0;
#pragma omp parallel for reduction(+ : found)
  for (int i = 0; i < n; ++i)
    if (cost(i) >= 0) found = 1;
  return found;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const int threads = omp_get_max_threads();
  static double scratch[size];
  double sum = 0, most = -1, product = 1;
  long integer_sum = 5, plain_sum = 0;
  int least = 1 << 30;
  unsigned all = 0;
  for (int i = 0; i < size; ++i) {
    in[i] = 1.0 / (i + 1);
    whole[i] = (int)((unsigned)i * 2654435761u >> 20) + 3;
  }
  for (int i = 0; i < size; ++i) {
    const double each = cost(i);
    sum += each;
    product *= 1 + 1e-6 * each;
    most = each > most ? each : most;
    integer_sum += (long)whole[i] * i;
    plain_sum += whole[i];
    least = whole[i] < least ? whole[i] : least;
    all |= (unsigned)whole[i];
  }
  for (int round = 0; round < rounds; ++round) {
    expect(is_near(triangular(size), sum + 1), "a sum");
    expect(integers(size) == integer_sum, "a sum of integers");
    expect(largest(size) == most, "the largest");
    expect(smallest(size) == least, "the smallest");
    int last = 0;
    double other_product = 0;
    expect(is_near(several(size, &last, &other_product), sum), "one of several");
    expect(last == size - 1 && is_near(other_product, product), "the others of several");
    double force[3] = {1, 2, 3};
    forces(size, force);
    expect(is_near(force[0], 1 + sum) && is_near(force[1], 2 - sum) && is_near(force[2], 3 + 2 * sum), "an array");
    expect(bits(size) == all, "bits");
    expect(is_near(by_hand(size), sum), "a sum combined by hand");
    long other = 0;
    expect(is_near(two_loops(size, &other), sum) && other == plain_sum, "two loops of one region");
    expect(triangular(0) == 1 && integers(1) == 5, "few iterations");
    expect(threads_counted(size, scratch) == threads, "threads, counted");
    expect(threads_that_found(size) == threads, "threads that found something");
  }
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}

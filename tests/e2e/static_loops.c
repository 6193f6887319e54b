// Static loops of GCC's, in the places where virtual threads may and may not be used. Every answer is compared with serial.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 3000, most_threads = 64 };

static double in[size], out[size], again[size];
static int owner[size], sums[most_threads];
static int wrong = 0;

static double cost(int i) {
  double sum = 0;
  for (int k = 0; k <= i; ++k) sum += in[k] / (1.0 + i - k);
  return sum;
}
static void expect(int holds, const char* what) {
  if (!holds && !wrong++) printf("wrong: %s\n", what);
}

static void triangular(double* to, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) to[i] += cost(i);
}
static void two_in_one(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) b[i] = a[i] + 1;
  }
}
static void few(double* a) {
#pragma omp parallel for
  for (int i = 0; i < 3; ++i) a[i] += 1;
}
static void alone(double* a, int n) {
#pragma omp parallel for num_threads(1)
  for (int i = 0; i < n; ++i) a[i] += 1;
}
// Not fit: who runs what is seen.
static void owned(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) owner[i] = omp_get_thread_num();
}
static void summed(int n) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
    int sum = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) sum += i;
    sums[t] = sum;
  }
}
static void nested(double* a, int n) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) triangular(a, n);
  }
}
static void* in_another_thread(void* to) {
  for (int i = 0; i < 20; ++i) triangular(to, 400);
  return NULL;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  static double serial[size], other[size];
  for (int i = 0; i < size; ++i) in[i] = 1.0 / (i + 1);
  for (int i = 0; i < size; ++i) serial[i] = cost(i);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) out[i] = again[i] = -1;
    triangular(out, size);
    for (int i = 0; i < size; ++i) expect(out[i] == serial[i] - 1, "each iteration once");
    two_in_one(out, again, size);
    for (int i = 0; i < size; ++i) expect(out[i] == i && again[i] == i + 1, "loops of one region");
    for (int i = 0; i < size; ++i) out[i] = 0;
    few(out);
    expect(out[0] == 1 && out[2] == 1 && out[3] == 0, "fewer iterations than threads");
    alone(out, size);
    expect(out[0] == 2 && out[size - 1] == 1, "a team of one");
    nested(again, 10);
    const int threads = omp_get_max_threads();
    owned(size);
    for (int i = 0; i < size; ++i) expect(owner[i] < threads, "numbers of threads");
    summed(size);
    int sum = 0;
    for (int i = 0; i < threads; ++i) sum += sums[i];
    expect(sum == size * (size - 1) / 2, "sums by thread");
    expect(omp_get_thread_num() == 0 && omp_get_num_threads() == 1, "outside of regions");
  }
  pthread_t thread;
  for (int i = 0; i < size; ++i) out[i] = other[i] = 0;
  pthread_create(&thread, NULL, in_another_thread, other);
  in_another_thread(out);
  pthread_join(thread, NULL);
  for (int i = 0; i < 400; ++i) {
    double sum = 0;
    for (int k = 0; k < 20; ++k) sum += serial[i];
    expect(out[i] == sum && other[i] == sum, "two threads that fork");
  }
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}

// Static loops that may be run by any number of threads. Every function here must be found fit.
#include <math.h>
#include <omp.h>
#include <string.h>

enum { width = 64 };

void axpy(double* a, const double* b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = 2 * b[i] + a[i];
}
void triangular(double* a, const double* b, int n) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k <= i; ++k) sum += b[k] / (1.0 + i - k);
    a[i] = sum;
  }
}
void strided(double* a, unsigned long n) {
#pragma omp parallel for
  for (unsigned long i = 3; i < n; i += 2) a[i] = (double)i;
}
void downwards(float* a, long n) {
#pragma omp parallel for
  for (long i = n - 1; i >= 0; i -= 3) a[i] = 0;
}
void stencil(double a[width][width], double b[width][width]) {
#pragma omp parallel for collapse(2)
  for (int i = 1; i < width - 1; ++i)
    for (int j = 1; j < width - 1; ++j) a[i][j] = 0.25 * (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
}
void matrix(double* c, const double* a, const double* b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
static __attribute__((noinline)) int escape(double x, double y) {
  double a = 0, b = 0;
  int n = 0;
  for (; n < 100 && a * a + b * b < 4; ++n) {
    const double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  return n;
}
void calls_its_own(int* counts, int n) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) counts[y * n + x] = escape(x * 0.01, y * 0.01);
}
void calls_libm(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = sin(a[i]) + exp(a[i]) * sqrt(a[i]);
}
void two_loops(double* a, double* b, int n, int m) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp for nowait
    for (int i = 0; i < m; ++i) b[i] = 2 * i;
  }
}
void alike_loops(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) b[i] = a[i] + 1;
  }
}
void steps(double* a, int n, int times) {
#pragma omp parallel
  for (int t = 0; t < times; ++t) {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] += t;
  }
}
void with_first(double* a, int n, double by) {
#pragma omp parallel for firstprivate(by)
  for (int i = 0; i < n; ++i) a[i] *= by;
}
void branches(double* a, const int* kind, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    if (kind[i] > 3)
      a[i] = 1;
    else if (kind[i] < 0)
      a[i] = -1;
    else
      a[i] += 2;
  }
}
void rows(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) memset(a + (long)i * n, 0, sizeof *a * (unsigned long)n);
}

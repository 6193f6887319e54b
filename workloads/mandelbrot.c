/* Mandelbrot: three loops (escape counts, smoothing, histogram of rows); high imbalance, since rows through the
 * set cost hundreds of times what rows outside it do. */
#include "common.h"

static const int most = 600;

static int escape_count(int x, int y, int size) {
  const double re = -2.2 + 3.2 * x / size, im = -1.2 + 1.3 * y / size;
  double a = 0, b = 0;
  int n = 0;
  for (; n < most && a * a + b * b < 4; ++n) {
    const double next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
  }
  return n;
}

static void row_counts(int* counts, int y, int size) {
  for (int x = 0; x < size; ++x) counts[y * size + x] = escape_count(x, y, size);
}

static void row_smooth(const int* counts, double* smooth, int y, int size) {
  for (int x = 0; x < size; ++x) {
    const int left = x > 0 ? counts[y * size + x - 1] : counts[y * size + x];
    const int right = x + 1 < size ? counts[y * size + x + 1] : counts[y * size + x];
    smooth[y * size + x] = 0.25 * left + 0.5 * counts[y * size + x] + 0.25 * right;
  }
}

static double row_sum(const double* smooth, int y, int size) {
  double sum = 0;
  for (int x = 0; x < size; ++x) sum += smooth[y * size + x];
  return sum;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 512, 3);
  const int size = o.size;
  int* const counts = malloc(sizeof *counts * (size_t)size * (size_t)size);
  double* const smooth = malloc(sizeof *smooth * (size_t)size * (size_t)size);
  double* const sums = malloc(sizeof *sums * (size_t)size);
  if (counts == NULL || smooth == NULL || sums == NULL) return 2;
  const double began = seconds();
  double answer = 0;
  for (int step = 0; another_step(&o, step); ++step) {
    SCHEDULED_LOOP(o.how, , y, size, { row_counts(counts, y, size); })
    SCHEDULED_LOOP(o.how, , y, size, { row_smooth(counts, smooth, y, size); })
    SCHEDULED_LOOP(o.how, , y, size, { sums[y] = row_sum(smooth, y, size); })
    answer = 0;
    for (int y = 0; y < size; ++y) answer += sums[y];
  }
  const double took = seconds() - began;
  double serial = 0;
  if (o.check)
    for (int y = 0; y < size; ++y) {
      row_counts(counts, y, size);
      row_smooth(counts, smooth, y, size);
      serial += row_sum(smooth, y, size);
    }
  free(counts);
  free(smooth);
  free(sums);
  return conclude("mandelbrot", answer, serial, o.check, took);
}

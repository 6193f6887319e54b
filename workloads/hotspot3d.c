/* Heat in a chip of a few layers (after Rodinia's Hotspot3D): the parallel loop runs over the 8 layers only, so
 * that at most 8 threads ever have work. --size is the edge of a layer. */
#include "common.h"

enum { layers = 8 };

static void layer_step(const double* from, double* to, int z, int n) {
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const size_t at = ((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x, plane = (size_t)n * (size_t)n;
      const double c = from[at];
      const double w = x > 0 ? from[at - 1] : c, e = x + 1 < n ? from[at + 1] : c;
      const double s = y > 0 ? from[at - (size_t)n] : c, t = y + 1 < n ? from[at + (size_t)n] : c;
      const double d = z > 0 ? from[at - plane] : c, u = z + 1 < layers ? from[at + plane] : c;
      to[at] = c + 0.1 * (w + e + s + t + d + u - 6 * c) + 1e-4 * z;
    }
}

static double total(const double* of, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += of[i];
  return sum;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 192, 40);
  const size_t count = (size_t)layers * (size_t)o.size * (size_t)o.size;
  double* a = malloc(sizeof *a * count);
  double* b = malloc(sizeof *b * count);
  if (a == NULL || b == NULL) return 2;
  for (size_t i = 0; i < count; ++i) a[i] = 20 + (double)(i % 17);
  const double began = seconds();
  for (int step = 0; another_step(&o, step); ++step) {
    SCHEDULED_LOOP(o.how, , z, layers, { layer_step(a, b, z, o.size); })
    double* const swap = a;
    a = b;
    b = swap;
  }
  const double took = seconds() - began;
  const double answer = total(a, count);
  double serial = 0;
  if (o.check) {
    for (size_t i = 0; i < count; ++i) a[i] = 20 + (double)(i % 17);
    for (int step = 0; step < o.steps; ++step) {
      for (int z = 0; z < layers; ++z) layer_step(a, b, z, o.size);
      double* const swap = a;
      a = b;
      b = swap;
    }
    serial = total(a, count);
  }
  free(a);
  free(b);
  return conclude("hotspot3d", answer, serial, o.check, took);
}

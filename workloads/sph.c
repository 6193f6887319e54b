/* Smoothed-particle hydrodynamics in one dimension with particles that cluster: density, then forces, then a
 * move. A particle's cost is the number of its neighbours, which differs: moderate imbalance. */
#include "common.h"

static const double reach = 0.02;

static double kernel(double gap) {
  const double q = fabs(gap) / reach;
  return q < 1 ? (1 - q) * (1 - q) * (1 + 2 * q) : 0;
}

static int first_near(const double* x, int n, double from) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (x[middle] < from)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static double density_at(const double* x, int n, int i) {
  double sum = 0;
  for (int k = first_near(x, n, x[i] - reach); k < n && x[k] <= x[i] + reach; ++k) sum += kernel(x[k] - x[i]);
  return sum;
}

static double force_at(const double* x, const double* density, int n, int i) {
  double sum = 0;
  for (int k = first_near(x, n, x[i] - reach); k < n && x[k] <= x[i] + reach; ++k)
    if (k != i) sum += (x[k] < x[i] ? 1 : -1) * kernel(x[k] - x[i]) * (1 / density[k] + 1 / density[i]);
  return sum;
}

/* Positions stay sorted: the denser left part only breathes. */
static void set_up(double* x, int n) {
  for (int i = 0; i < n; ++i) {
    const double t = (i + 0.5) / n;
    x[i] = t * t;
  }
}

static double total(const double* density, const double* force, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += density[i] + force[i];
  return sum;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 20000, 4);
  const int n = o.size;
  double* const x = malloc(sizeof *x * (size_t)n);
  double* const density = malloc(sizeof *density * (size_t)n);
  double* const force = malloc(sizeof *force * (size_t)n);
  if (x == NULL || density == NULL || force == NULL) return 2;
  set_up(x, n);
  const double began = seconds();
  for (int step = 0; another_step(&o, step); ++step) {
    SCHEDULED_LOOP(o.how, , i, n, { density[i] = density_at(x, n, i); })
    SCHEDULED_LOOP(o.how, , i, n, { force[i] = force_at(x, density, n, i); })
  }
  const double took = seconds() - began;
  const double answer = total(density, force, n);
  double serial = 0;
  if (o.check) {
    for (int i = 0; i < n; ++i) density[i] = density_at(x, n, i);
    for (int i = 0; i < n; ++i) force[i] = force_at(x, density, n, i);
    serial = total(density, force, n);
  }
  free(x);
  free(density);
  free(force);
  return conclude("sph", answer, serial, o.check, took);
}

// Static loops with reductions that may be run by any number of threads: partial results are combined once in each call.
#include <math.h>
#include <omp.h>

int sum_of_ints(const int* a, int n) {
  int sum = 3;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum;
}
long sum_of_longs(const int* a, long n) {
  long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += a[i];
  return sum;
}
double sum_of_doubles(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum;
}
float sum_of_floats(const float* a, int n) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i] * a[i];
  return sum;
}
double difference(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(- : sum)
  for (int i = 0; i < n; ++i) sum -= a[i];
  return sum;
}
double triangular_sum(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    for (int k = 0; k <= i; ++k) sum += a[k] / (1.0 + i - k);
  return sum;
}
double sum_of_sines(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += sin(a[i]);
  return sum;
}
int counted(const int* a, int n) {
  int count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int i = 0; i < n; ++i)
    if (a[i] > 7) count++;
  return count;
}
int product_of_ints(const int* a, int n) {
  int product = 1;
#pragma omp parallel for reduction(* : product)
  for (int i = 0; i < n; ++i) product *= a[i];
  return product;
}
double product_of_doubles(const double* a, int n) {
  double product = 1;
#pragma omp parallel for reduction(* : product)
  for (int i = 0; i < n; ++i) product *= a[i];
  return product;
}
int largest_int(const int* a, int n) {
  int most = 0;
#pragma omp parallel for reduction(max : most)
  for (int i = 0; i < n; ++i)
    if (a[i] > most) most = a[i];
  return most;
}
int smallest_int(const int* a, int n) {
  int least = 0;
#pragma omp parallel for reduction(min : least)
  for (int i = 0; i < n; ++i) least = a[i] < least ? a[i] : least;
  return least;
}
double largest_double(const double* a, int n) {
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (int i = 0; i < n; ++i) most = a[i] > most ? a[i] : most;
  return most;
}
double smallest_double(const double* a, int n) {
  double least = 1e9;
#pragma omp parallel for reduction(min : least)
  for (int i = 0; i < n; ++i)
    if (a[i] < least) least = a[i];
  return least;
}
double largest_change(const double* a, const double* b, int n) {
  double most = 0;
#pragma omp parallel for reduction(max : most)
  for (int i = 0; i < n; ++i) {
    const double change = fabs(a[i] - b[i]);
    if (change > most) most = change;
  }
  return most;
}
unsigned bits_set(const unsigned* a, int n) {
  unsigned bits = 0;
#pragma omp parallel for reduction(| : bits)
  for (int i = 0; i < n; ++i) bits |= a[i];
  return bits;
}
unsigned bits_kept(const unsigned* a, int n) {
  unsigned bits = ~0u;
#pragma omp parallel for reduction(& : bits)
  for (int i = 0; i < n; ++i) bits &= a[i];
  return bits;
}
unsigned long parity(const unsigned long* a, int n) {
  unsigned long bits = 0;
#pragma omp parallel for reduction(^ : bits)
  for (int i = 0; i < n; ++i) bits ^= a[i];
  return bits;
}
int all_hold(const int* a, int n) {
  int all = 1;
#pragma omp parallel for reduction(&& : all)
  for (int i = 0; i < n; ++i) all = all && a[i];
  return all;
}
int any_holds(const int* a, int n) {
  int any = 0;
#pragma omp parallel for reduction(|| : any)
  for (int i = 0; i < n; ++i) any = any || a[i];
  return any;
}
double several(const double* a, int n, int* most, double* product) {
  double sum = 0, all = 1;
  int last = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : last) reduction(* : all)
  for (int i = 0; i < n; ++i) {
    sum += a[i];
    all *= a[i];
    if (a[i] > 1 && i > last) last = i;
  }
  *most = last;
  *product = all;
  return sum;
}
void moments(const double* a, int n, double* to) {
  double one = 0, two = 0, three = 0;
#pragma omp parallel for reduction(+ : one, two, three)
  for (int i = 0; i < n; ++i) {
    one += a[i];
    two += a[i] * a[i];
    three += a[i] * a[i] * a[i];
  }
  to[0] = one, to[1] = two, to[2] = three;
}
void histogram(const int* a, int n, long* counts) {
#pragma omp parallel for reduction(+ : counts[ : 4])
  for (int i = 0; i < n; ++i) counts[a[i] & 3] += 1;
}
void forces(const double* a, int n, double* force) {
#pragma omp parallel for reduction(+ : force[ : 3])
  for (int i = 0; i < n; ++i) {
    force[0] += a[3 * i];
    force[1] += a[3 * i + 1];
    force[2] += a[3 * i + 2];
  }
}
double written_as_well(double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) {
    a[i] = 2 * a[i];
    sum += a[i];
  }
  return sum;
}
double with_last(const double* a, int n, int* last, double by) {
  double sum = 0;
  int kept = 0;
#pragma omp parallel for reduction(+ : sum) lastprivate(kept) firstprivate(by)
  for (int i = 0; i < n; ++i) {
    kept = 2 * i;
    sum += by * a[i];
  }
  *last = kept;
  return sum;
}
double two_loops(const double* a, const double* b, int n, double* other) {
  double one = 0, two = 0;
#pragma omp parallel
  {
#pragma omp for nowait reduction(+ : one)
    for (int i = 0; i < n; ++i) one += a[i];
#pragma omp for nowait reduction(+ : two)
    for (int i = 0; i < n; ++i) two += b[i];
  }
  *other = two;
  return one;
}
double global_sum;
void into_a_global(const double* a, int n) {
#pragma omp parallel for reduction(+ : global_sum)
  for (int i = 0; i < n; ++i) global_sum += a[i];
}
double combined_by_hand(const double* a, int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
double combined_in_critical(const double* a, int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp critical
    sum += mine;
  }
  return sum;
}
double combined_in_named(const double* a, int n) {
  double most = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine = a[i] > mine ? a[i] : mine;
#pragma omp critical(largest)
    most = mine > most ? mine : most;
  }
  return most;
}
double collapsed(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for collapse(2) reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) sum += a[i * n + j];
  return sum;
}
double with_simd(const float* a, const float* b, int n) {
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

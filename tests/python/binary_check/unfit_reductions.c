// Regions that combine something which depends on how the iterations are divided among threads. None of these may be found
// fit.
#include <omp.h>

void threads_counted(double* a, int n, int* threads) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp atomic
    *threads += 1;
  }
}
void threads_counted_in_critical(double* a, int n, int* threads) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp critical
    *threads += 1;
  }
}
void threads_with_work_counted(double* a, int n, int* threads) {
#pragma omp parallel
  {
    int mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      a[i] = i;
      mine = 1;
    }
#pragma omp atomic
    *threads += mine;
  }
}
int threads_that_found(const int* a, int n) {
  int found = 0;
#pragma omp parallel for reduction(+ : found)
  for (int i = 0; i < n; ++i)
    if (a[i] == 0) found = 1;
  return found;
}
double more_for_each_thread(const double* a, int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
    mine += 5;
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
double begun_with_more(const double* a, int n, double first) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = first;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
long begun_with_one(const int* a, int n) {
  long sum = 0;
#pragma omp parallel
  {
    long mine = 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
double product_begun_with_two(const double* a, int n) {
  double product = 1;
#pragma omp parallel
  {
    double mine = 2;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine *= a[i];
#pragma omp atomic
    product *= mine;
  }
  return product;
}
double sum_of_last(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum = a[i];
  return sum;
}
int largest_last(const int* a, int n) {
  int most = 0;
#pragma omp parallel for reduction(max : most)
  for (int i = 0; i < n; ++i) most = a[i];
  return most;
}
double sum_of_largest(const double* a, int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine = a[i] > mine ? a[i] : mine;
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
int largest_of_smallest(const int* a, int n) {
  int most = 0;
#pragma omp parallel
  {
    int mine = 1000;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine = a[i] < mine ? a[i] : mine;
#pragma omp critical
    most = mine > most ? mine : most;
  }
  return most;
}
double largest_sum(const double* a, int n) {
  double most = 0;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp critical
    most = mine > most ? mine : most;
  }
  return most;
}
double product_of_sums(const double* a, int n) {
  double product = 1;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    product *= mine;
  }
  return product;
}
double alternating(const double* a, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum = a[i] - sum;
  return sum;
}
double polynomial(const double* a, int n, double x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum = sum * x + a[i];
  return sum;
}
double doubled_in_place(const double* a, int n) {
  double sum = 1;
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp critical
    sum = 2 * sum + mine;
  }
  return sum;
}
void sums_so_far(const double* a, int n, double* sum) {
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
#pragma omp atomic
      *sum += mine;
    }
  }
}
void longs_so_far(const long* a, int n, long* sum) {
#pragma omp parallel
  {
    long mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
#pragma omp atomic
      *sum += mine;
    }
  }
}
void sums_so_far_in_critical(const double* a, int n, double* sum) {
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
#pragma omp critical
      *sum += mine;
    }
  }
}
void atomic_of_values(const double* a, int n, double* sum) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    *sum += a[i];
  }
}
void histogram_of_atomics(const int* a, int n, double* counts) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    counts[a[i]] += 1;
  }
}
void position_of_largest(const double* a, int n, double* most, int* where) {
#pragma omp parallel
  {
    double mine = 0;
    int at = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i)
      if (a[i] > mine) mine = a[i], at = i;
#pragma omp critical
    if (mine > *most) *most = mine, *where = at;
  }
}
void list_of_sums(const double* a, int n, double* sums, int* used) {
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp critical
    sums[(*used)++] = mine;
  }
}
void order_told(const double* a, int n, double* sum, int* order) {
#pragma omp parallel
  {
    double mine = 0;
    int ticket;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic capture
    ticket = (*order)++;
    if (ticket == 0) {
#pragma omp atomic
      *sum += mine;
    }
  }
}
void tried_once(const long* a, int n, long* sum) {
#pragma omp parallel
  {
    long mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
    long old = *sum;
    __atomic_compare_exchange_n(sum, &old, old + mine, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
}
void read_before_the_lock(const double* a, int n, double* sum) {
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
    const double old = *(volatile double*)sum;
#pragma omp critical
    *sum = old + mine;
  }
}
void into_places_by_thread(const double* a, int n, double* sums) {
#pragma omp parallel
  {
    double mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    sums[omp_get_thread_num() & 1] += mine;
  }
}
void into_the_last_place(const int* where, const double* a, int n, double* sums) {
#pragma omp parallel
  {
    double mine = 0;
    int place = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
      place = where[i];
    }
#pragma omp atomic
    sums[place] += mine;
  }
}
int changed_in_passing(const int* a, int n) {
  int sum = 0;
#pragma omp parallel
  {
    int mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
    mine = mine * 3 + 1;
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
int squares_of_sums(const int* a, int n) {
  int sum = 0;
#pragma omp parallel
  {
    int mine = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine += a[i];
#pragma omp atomic
    sum += mine * mine;
  }
  return sum;
}
void last_of_array(const int* a, int n, long* counts) {
#pragma omp parallel for reduction(+ : counts[ : 4])
  for (int i = 0; i < n; ++i) counts[a[i] & 3] = i;
}
unsigned bits_of_last(const unsigned* a, int n) {
  unsigned bits = 0;
#pragma omp parallel for reduction(| : bits)
  for (int i = 0; i < n; ++i) bits = a[i];
  return bits;
}
int flags_mixed(const int* a, int n) {
  int all = 0;
#pragma omp parallel
  {
    int mine = 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i)
      if (a[i] == 0) mine = 0;
#pragma omp atomic
    all |= mine;
  }
  return all;
}
double with_barrier_between(const double* a, double* b, int n) {
  double sum = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += a[i];
#pragma omp for nowait
    for (int i = 0; i < n; ++i) b[i] = sum;
  }
  return sum;
}
double more_for_each_thread_with_work(const double* a, int n) {
  double sum = 0;
#pragma omp parallel
  {
    double mine = 0;
    int any = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
      any = 1;
    }
    if (any) mine += 5;
#pragma omp atomic
    sum += mine;
  }
  return sum;
}
long one_for_each_thread_with_work(const long* a, int n) {
  long sum = 0;
#pragma omp parallel
  {
    long mine = 0;
    int any = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      mine += a[i];
      any = 1;
    }
    if (any) mine += 1;
#pragma omp atomic
    sum += mine;
  }
  return sum;
}

// Regions that depend on how many threads there are, or on which one they run. None of these may be found fit.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int counter, seen[1024];
_Thread_local int mine;
int private_one;
#pragma omp threadprivate(private_one)
double many[1024];

void by_number(double* a) {
#pragma omp parallel
  a[omp_get_thread_num()] = 1;
}
void number_in_loop(int* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = omp_get_thread_num();
}
void number_as_index(double* a, double* sums, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) sums[omp_get_thread_num()] += a[i];
}
void number_converted(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = 0.5 * omp_get_thread_num();
}
void number_compared(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    if (omp_get_thread_num() == 0) a[i] = 1;
}
void count_in_loop(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = omp_get_num_threads();
}
void count_kept(int n, double* a, int* threads) {
#pragma omp parallel
  {
    *threads = omp_get_num_threads();
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void by_hand(double* a, int n) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    for (int i = n * t / threads; i < n * (t + 1) / threads; ++i) a[i] = i;
  }
}
void by_hand_in_turn(double* a, int n) {
#pragma omp parallel
  for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads()) a[i] = i;
}
void by_hand_with_sums(const double* a, double* sums, int n) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    int size = n / threads, rest = n % threads;
    if (t < rest) ++size, rest = 0;
    const int begin = t * size + rest;
    double sum = 0;
    for (int i = begin; i < begin + size; ++i) sum += a[i];
    sums[t] = sum;
  }
}
void number_saved(double* a, int n) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
    int here[4] = {t, t + 1, t + 2, t + 3};
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = here[i % 4];
  }
}
void number_by_pointer(double* a, int n) {
#pragma omp parallel
  {
    int t = omp_get_thread_num();
    int* volatile where = &t;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = *where;
  }
}
void quotient_kept(double* a, int n, int* share) {
#pragma omp parallel
  {
    *share = n / omp_get_num_threads();
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void printed(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    printf("%d\n", i);
  }
}
void allocated(double** a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = malloc(8);
}
void thread_local_sum(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    mine += i;
    a[i] = mine;
  }
}
void thread_private(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    private_one += i;
    a[i] = private_one;
  }
}
void atomic_in_loop(const int* a, int* histogram, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    histogram[a[i]] += 1;
  }
}
void once_a_thread(double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
    many[0] += 1;
  }
}
void once_a_thread_before(double* a, int n) {
#pragma omp parallel
  {
    counter += 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void no_loop(void) {
#pragma omp parallel
  seen[0] = 1;
}
void in_critical(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    a[0] += i;
  }
}
void with_barrier(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) b[i] = a[n - 1 - i];
  }
}
void with_single(double* a, int n) {
#pragma omp parallel
  {
#pragma omp single nowait
    counter = 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void with_master(double* a, int n) {
#pragma omp parallel
  {
#pragma omp master
    counter = 1;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void dynamic(double* a, int n) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int i = 0; i < n; ++i) a[i] = i;
}
void in_turn(double* a, int n) {
#pragma omp parallel for schedule(static, 4)
  for (int i = 0; i < n; ++i) a[i] = i;
}
void through_a_pointer(double* a, int n, double (*f)(double)) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = f(a[i]);
}
static __attribute__((noinline)) int asks(int i) { return i + omp_get_thread_num(); }
void asks_in_a_function(int* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = asks(i);
}
static __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
void recursive(int* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = fibonacci(i % 8);
}
void nested(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp parallel
    a[i] = i;
  }
}
void random_numbers(int* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = rand();
}
void clock_read(unsigned long* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = __builtin_ia32_rdtsc();
}
void cancelled(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    a[i] = i;
#pragma omp cancel for
  }
}
void tasks(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp task
    a[i] = i;
  }
}
static __attribute__((noinline)) int twice(int t) { return 2 * t; }
void number_through_a_function(int* a, int n) {
#pragma omp parallel
  {
    const int t = twice(omp_get_thread_num());
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = t;
  }
}
static __attribute__((noinline)) void put(int* where, const int* from) { *where = *from; }
void number_through_memory(int* a, int n) {
#pragma omp parallel
  {
    int t = omp_get_thread_num(), copy = 0;
    put(&copy, &t);
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = copy;
  }
}
void number_through_pointers(int* a, int n) {
#pragma omp parallel
  {
    int t = 0, u = 0;
    int* volatile both[2] = {&t, &u};
    int* const one = both[n & 1];
    t = omp_get_thread_num();
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = *one;
  }
}
void number_switched(int* a, int n) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
#pragma omp for nowait
    for (int i = 0; i < n; ++i) switch (t) {
        case 0: a[i] = 7; break;
        case 1: a[i] += 3; break;
        case 2: a[i] *= 5; break;
        case 3: a[i] -= 8; break;
        case 4: a[i] ^= 1; break;
        case 5: a[i] |= 8; break;
      }
  }
}
void number_shifted(unsigned* a, int n) {
#pragma omp parallel
  {
    const unsigned bit = 1u << omp_get_thread_num();
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] |= bit;
  }
}
void number_selects(int* a, int n, int x, int y) {
#pragma omp parallel
  {
    const int mine = omp_get_thread_num() & 1 ? x : y;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = mine;
  }
}
void remainder_told(double* a, int n, int* told) {
#pragma omp parallel
  {
    if (omp_get_thread_num() < n % omp_get_num_threads()) {
#pragma omp atomic write
      *told = 1;
    }
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
  }
}
void quotient_told(double* a, int n, int* told) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp atomic write
    *told = n / omp_get_num_threads();
  }
}
void serial_for_one(double* a, int n) {
#pragma omp parallel
  {
    if (omp_get_num_threads() == 1) a[0] = 17;
#pragma omp for nowait
    for (int i = 1; i < n; ++i) a[i] = i;
  }
}
void chunks_by_hand(double* a, int n) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), chunk = (n + threads - 1) / threads;
    const int begin = omp_get_thread_num() * chunk, end = begin + chunk < n ? begin + chunk : n;
    for (int i = begin; i < end; ++i) a[i] = i;
  }
}
void all_by_everybody(double* a, double* b, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
    for (int i = 0; i < 4; ++i) b[i] = 3;
  }
}
void told_when_found(const int* a, int n, int* found) {
#pragma omp parallel
  {
    int here = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i)
      if (a[i] == 0) here = 1;
#pragma omp atomic
    *found += here;
  }
}

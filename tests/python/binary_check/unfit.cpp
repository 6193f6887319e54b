// As unfit.c, of C++: exceptions, virtual calls, containers that grow, locks of the library's, atomics.
#include <omp.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
};
void virtual_calls(shape** shapes, double* areas, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) areas[i] = shapes[i]->area();
}
void grows(std::vector<int>* rows, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) rows[i].push_back(i);
}
void locks(std::mutex& lock, double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const std::lock_guard guard(lock);
    a[0] += i;
  }
}
void counts(std::atomic<int>& count, double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    count += 1;
  }
}
void tells_all(std::atomic<bool>& done, double* a, int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = i;
    done.store(true, std::memory_order_release);
  }
}
void throws(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    try {
      if (a[i] < 0) throw std::runtime_error("negative");
      a[i] = 1;
    } catch (const std::runtime_error&) {
      a[i] = 0;
    }
  }
}
static int next_id() {
  static thread_local int id = 0;
  return ++id;
}
void ids(int* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = next_id();
}
void per_thread(std::vector<std::vector<double>>& buffers, const double* a, int n) {
#pragma omp parallel
  {
    auto& mine = buffers[omp_get_thread_num()];
#pragma omp for nowait
    for (int i = 0; i < n; ++i) mine[i] = a[i];
  }
}

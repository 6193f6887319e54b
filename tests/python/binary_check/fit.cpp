// As fit.c, of C++: containers, templates, collapsed and simd loops.
#include <array>
#include <cmath>
#include <vector>

template <class number>
void scaled(std::vector<number>& a, number by) {
#pragma omp parallel for
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = by * a.data()[i];
}
void both(std::vector<float>& a, std::vector<double>& b) {
  scaled(a, 2.0f);
  scaled(b, 3.0);
}
void points(std::array<double, 3>* at, const double* mass, int n) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    double force[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < 3; ++k) force[k] += mass[j] * at[j].data()[0] * k;
    for (int k = 0; k < 3; ++k) at[i].data()[k] = force[k];
  }
}
void planes(double* out, const double* in, long x, long y, long z) {
#pragma omp parallel for collapse(3)
  for (long i = 0; i < x; ++i)
    for (long j = 0; j < y; ++j)
      for (long k = 0; k < z; ++k) out[(i * y + j) * z + k] = std::sqrt(in[(i * y + j) * z + k]);
}

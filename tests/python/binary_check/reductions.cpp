// As reductions.c, of C++: complex numbers, operations of one's own, classes, references.
#include <algorithm>
#include <complex>
#include <vector>

struct point {
  double x = 0, y = 0;
  point& operator+=(const point& other) {
    x += other.x;
    y += other.y;
    return *this;
  }
};
#pragma omp declare reduction(+ : point : omp_out += omp_in)
#pragma omp declare reduction(+ : std::complex<double> : omp_out += omp_in)
#pragma omp declare reduction(far:double : omp_out = std::max(omp_out, omp_in)) initializer(omp_priv = -1)

point center(const std::vector<point>& points) {
  point sum;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < points.size(); ++i) sum += points.data()[i];
  return sum;
}
std::complex<double> complex_sum(const std::complex<double>* a, int n) {
  std::complex<double> sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum;
}
double farthest(const double* a, int n) {
  double most = 0;
#pragma omp parallel for reduction(far : most)
  for (int i = 0; i < n; ++i) most = std::max(most, a[i]);
  return most;
}
void by_reference(double& sum, const double* a, int n) {
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += a[i];
}
template <class number>
number templated(const std::vector<number>& a) {
  number sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i];
  return sum;
}
double both(const std::vector<float>& a, const std::vector<long>& b) {
  return templated(a) + static_cast<double>(templated(b));
}
struct solver {
  std::vector<double> values;
  double rest = 0;
  double residual() {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 1; i < static_cast<int>(values.size()); ++i) {
      const double change = values.data()[i] - values.data()[i - 1];
      sum += change * change;
    }
    return sum;
  }
};
double solve(solver& one) { return one.residual(); }

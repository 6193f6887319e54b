// Reports a subject, a figure and tasks of its own to trimtab, and does the same work when it is not there.
#include <trimtab.h>

#include <cmath>
#include <cstdio>

namespace {

const trimtab::subject step("solver step");
const trimtab::counter residual("residual", "1");

double relax(double value) {
  const trimtab::scope here(step);
  return std::sqrt(value);
}

}  // namespace

int main() {
  double value = 2.0;
  for (int i = 0; i < 100; ++i) {
    value = relax(value);
    residual.set(value - 1.0);
  }
  std::printf("%.3f\n", value);
  return std::fabs(value - 1.0) < 1e-9 ? 0 : 1;
}

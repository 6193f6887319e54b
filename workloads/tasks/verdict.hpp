// The answer, compared with the serial one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace workload {

// Prints answer and check; the program's exit code.
inline int conclude(const std::string& program, bool is_checked, std::int64_t actual, std::int64_t expected) {
  std::printf("answer=%lld\n", static_cast<long long>(actual));
  const bool is_right = !is_checked || actual == expected;
  std::printf("check=%s\n", !is_checked ? "none" : is_right ? "right" : "wrong");
  if (!is_right)
    std::fprintf(stderr, "%s: expected the serial answer %lld, found %lld\n", program.c_str(),
                 static_cast<long long>(expected), static_cast<long long>(actual));
  return is_right ? 0 : 1;
}

// Of fields of numbers: the first place where both differ by more than `tolerance` of the value.
struct difference {
  std::int64_t place = -1;
  double actual = 0;
  double expected = 0;
  void look(std::int64_t index, double value, double serial_value, double tolerance = 1e-10) {
    if (place < 0 && !(std::abs(value - serial_value) <= tolerance * std::max(1.0, std::abs(serial_value))))
      *this = {index, value, serial_value};
  }
};

inline int conclude(const std::string& program, bool is_checked, double answer, const difference& first) {
  std::printf("answer=%.15g\n", answer);
  std::printf("check=%s\n", !is_checked ? "none" : first.place < 0 ? "right" : "wrong");
  if (first.place >= 0)
    std::fprintf(stderr, "%s: expected %.15g at %lld, found %.15g\n", program.c_str(), first.expected,
                 static_cast<long long>(first.place), first.actual);
  return first.place < 0 ? 0 : 1;
}

}  // namespace workload

// The discrete Fourier transform of 2^size numbers, by halves (Cooley and Tukey 1965).
#include <cmath>
#include <complex>
#include <numbers>

#include "program.hpp"

namespace programs::fft {

using number = std::complex<double>;
constexpr std::int64_t grain = 512;

// source: `count` numbers, `stride` apart; target: their transform, in order.
template <class how>
void transform(const number* source, number* target, std::int64_t count, std::int64_t stride) {
  if (count == 1) {
    *target = *source;
    return;
  }
  const std::int64_t half = count / 2;
  const auto even_part = [=] { transform<how>(source, target, half, 2 * stride); };
  const auto odd = [=] { transform<how>(source + stride, target + half, half, 2 * stride); };
  if (count > grain) {
    auto second = how::async(even_part);
    odd();
    second.get();
  } else {
    even_part();
    odd();
  }
  const number step = std::polar(1.0, -2 * std::numbers::pi / static_cast<double>(count));
  number turn = 1;
  for (std::int64_t k = 0; k < half; ++k) {
    const number a = target[k], b = turn * target[k + half];
    target[k] = a + b;
    target[k + half] = a - b;
    turn *= step;
  }
}

template <class how>
std::int64_t answer(std::int64_t power) {
  const std::int64_t count = std::int64_t{1} << power;
  random_numbers random(11);
  std::vector<number> signal(index(count)), spectrum(index(count));
  for (number& each : signal) each = {random.uniform(), random.uniform()};
  transform<how>(signal.data(), spectrum.data(), count, 1);
  return digest(reinterpret_cast<const double*>(spectrum.data()), 2 * index(count));
}

}  // namespace programs::fft

const programs::program programs::fft_program = {"fft", "2^N numbers", 20, fft::answer<by_tasks>, fft::answer<serially>};

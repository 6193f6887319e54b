// OpenMP: by g++ with libgomp, by clang with libomp.
#include <omp.h>

#include "bench.hpp"

namespace {

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

// f() once, with the team around it that runs its tasks.
template <class function>
void with_team(int workers, function&& f) {
#pragma omp parallel num_threads(workers)
#pragma omp single
  f();
}

void fork_join(const bench::arguments& with) {
  bench::time_fib(with, [&](std::int64_t n) {
    std::int64_t answer = 0;
    with_team(with.workers, [&] { answer = fib(n); });
    return answer;
  });
}

void flat(const bench::arguments& with) {
  bench::time_flat(with, [&](bench::tally& done) {
    with_team(with.workers, [&] {
      for (std::int64_t i = 0; i < with.size; ++i)
#pragma omp task shared(done)
        done.of_thread(omp_get_thread_num()) += 1;
#pragma omp taskwait
    });
  });
}

std::int64_t skynet(std::int64_t first, std::int64_t leaves) {
  if (leaves == 1) return first;
  std::int64_t sums[10];
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(sums) firstprivate(i)
    sums[i] = skynet(first + i * (leaves / 10), leaves / 10);
  }
#pragma omp taskwait
  std::int64_t all = 0;
  for (const std::int64_t each : sums) all += each;
  return all;
}

void skynet_case(const bench::arguments& with) {
  bench::time_skynet(with, [&](std::int64_t leaves) {
    std::int64_t answer = 0;
    with_team(with.workers, [&] { answer = skynet(0, leaves); });
    return answer;
  });
}

void stencil(const bench::arguments& with) {
  bench::time_stencil(with, [&](bench::stencil& of) {
    with_team(with.workers, [&] {
      for (std::int64_t step = 0; step < of.steps; ++step) {
        // Only the addresses matter, of which one is read and one written at each place.
        [[maybe_unused]] const double* const from = of.cells[step & 1].data();
        [[maybe_unused]] double* const to = of.cells[(step + 1) & 1].data();
        for (int i = 0; i < of.width; ++i) {
          [[maybe_unused]] const int left = of.left(i), right = of.right(i);
#pragma omp task depend(in : from[left], from[i], from[right]) depend(out : to[i]) firstprivate(step, i) shared(of)
          of.compute(step, i);
        }
      }
#pragma omp taskwait
    });
  });
}

void ring(const bench::arguments& with) {
  double answer = 0;
  const double took = [&] {
    bench::ring here(with.size);
    bool is_first = true;
    return bench::seconds(with.repeats, [&] {
      for (std::int64_t step = 0; step < bench::ring::steps; ++step) {
#pragma omp parallel num_threads(with.workers)
        {
          const std::int64_t team = omp_get_num_threads(), own = omp_get_thread_num();
          here.advance(step, here.points * own / team, here.points * (own + 1) / team);
        }
      }
      if (is_first) answer = here.sum();
      is_first = false;
    });
  }();
  bench::expect("ring", bench::ring::expected(with.size), answer);
  bench::print("s", took);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::main(
      argc, argv, {{"fork_join", fork_join}, {"flat", flat}, {"skynet", skynet_case}, {"stencil", stencil}, {"ring", ring}});
}

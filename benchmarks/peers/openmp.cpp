// OpenMP: by g++ with libgomp, by clang with libomp.
#include <omp.h>

#include <parallel/algorithm>

#include "loops.hpp"

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

void axpy(int workers, std::int64_t count, const double* x, double* y) {
#pragma omp parallel for num_threads(workers)
  for (std::int64_t i = 0; i < count; ++i) y[i] += 3 * x[i];
}

void loop(const bench::arguments& with) {
  bench::time_loop(with, [&](std::int64_t count, const double* x, double* y) { axpy(with.workers, count, x, y); });
}

void short_loops(const bench::arguments& with) {
  bench::time_short_loops(with, [&](std::int64_t times, std::int64_t count, const double* x, double* y) {
    for (; times > 0; --times) axpy(with.workers, count, x, y);
  });
}

void reduce(const bench::arguments& with) {
  bench::time_reduce(with, [&](const std::vector<double>& x) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(with.workers)
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i];
    return sum;
  });
}

// In two passes: clang keeps what an inscan reduction needs on the stack, which is too short for it.
void scan(const bench::arguments& with) {
  bench::time_scan(with, [&](const std::vector<double>& x, std::vector<double>& y) {
    const double* const from = x.data();
    double* const to = y.data();
    std::vector<double> sums(static_cast<std::size_t>(with.workers) + 1);
#pragma omp parallel num_threads(with.workers)
    {
      const std::int64_t team = omp_get_num_threads(), own = omp_get_thread_num();
      const std::int64_t first = with.size * own / team, last = with.size * (own + 1) / team;
      double sum = 0;
      if (own + 1 < team)
        for (std::int64_t i = first; i < last; ++i) sum += from[i];
      sums[static_cast<std::size_t>(own) + 1] = sum;
#pragma omp barrier
      sum = 0;
      for (std::int64_t i = 0; i <= own; ++i) sum += sums[static_cast<std::size_t>(i)];
      for (std::int64_t i = first; i < last; ++i) to[i] = sum += from[i];
    }
  });
}

// OpenMP has no sort: that of the standard library's parallel mode, which is made of it.
void sort(const bench::arguments& with) {
  omp_set_num_threads(with.workers);
  bench::time_sort(with, [](std::vector<double>& x) { __gnu_parallel::sort(x.begin(), x.end()); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::main(argc, argv,
                     {{"fork_join", fork_join},
                      {"flat", flat},
                      {"skynet", skynet_case},
                      {"stencil", stencil},
                      {"ring", ring},
                      {"loop", loop},
                      {"short_loops", short_loops},
                      {"reduce", reduce},
                      {"scan", scan},
                      {"sort", sort}});
}

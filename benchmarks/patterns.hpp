// What the programs of pattern_rows.py have in common: the work of an iteration, its serial answer, and a clock of their
// own.
//   PROGRAM SHAPE INSTANCES [PATTERN [SCALE]]: runs the patterns, says of each whether its answer is right.
// With PATTERNS_CLOCK=FILE in the environment it writes there how long each construct took: PATTERN ITERATIONS, then the
// least and the most for each instance, seconds. The least is known only if it is built with PATTERNS_MARKS.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using word = std::uint64_t;

constexpr int trip = 240, half = trip / 2, rows = 12, columns = 20;
static_assert(rows * columns == trip);

static int steps[trip];    // what iteration i costs
static word answer[trip];  // what it gives, by the program's own serial computation
static word cell[trip];    // what the pattern under test has made of it
static word least_answer, most_answer, sum_of_answers;

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static thread_local bool is_primary = false;
static double begun, primary_began;
static std::atomic<double> last_finished;

// With marks, what a construct takes is known from both sides. It lasts at least from the primary thread's first iteration
// until any thread's last one has finished, and at most from before it until the primary thread has left it.
#ifdef PATTERNS_MARKS
static inline void iteration_begins() {
  if (is_primary && primary_began == 0) primary_began = now();
}
static inline void iteration_ended() { last_finished.store(now(), std::memory_order_relaxed); }
#else
static inline void iteration_begins() {}
static inline void iteration_ended() {}
#endif

// Steps that wait for each other, without a call. The empty assembly keeps compilers from taking several at once.
static inline word work(long i) {
  iteration_begins();
  word x = static_cast<word>(i) + 1;
  for (int k = steps[i]; k > 0; --k) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
  iteration_ended();
  return x >> 33;
}

struct bounds {
  double least, most;  // seconds
};
static std::string running;
static std::map<std::string, std::vector<bounds>> clocks;
static bool is_right;

// Around a construct behind which all members wait for each other; by the primary thread, whoever else comes by.
#define START \
  if (is_primary) primary_began = 0, begun = now()
#define STOP(iterations) \
  if (is_primary) took(iterations, 1)
// Around two equal loops without a barrier between them.
#define STOP_EACH_OF_TWO(iterations) \
  if (is_primary) took(iterations, 0.5)

static inline void took(int iterations, double share) {
  const double end = now(), least = primary_began > 0 ? last_finished - primary_began : 0;
  clocks[running + ' ' + std::to_string(iterations)].push_back({share * least, share * (end - begun)});
}

static inline void expect(bool is_so) { is_right = is_right && is_so; }
static inline void expect_cells(word times) {
  for (int i = 0; i < trip; ++i) expect(cell[i] == times * answer[i]);
}

static void prepare(const char* shape, int scale) {
  for (int i = 0; i < trip; ++i) {
    const int rising = 2 * i * scale / trip;
    steps[i] = std::strcmp(shape, "light-first") == 0   ? rising
               : std::strcmp(shape, "heavy-first") == 0 ? 2 * scale - rising
               : i % 2 == 0                             ? scale / 4
                                                        : 2 * scale - scale / 4;
    answer[i] = work(i);
  }
  least_answer = *std::min_element(answer, answer + trip);
  most_answer = *std::max_element(answer, answer + trip);
  sum_of_answers = std::accumulate(answer, answer + trip, word{0});
}

struct pattern {
  const char* name;
  void (*run)(int instances);
};

static int run_patterns(const pattern* all, std::size_t count, int argc, char** argv) {
  const int instances = argc > 2 ? std::atoi(argv[2]) : 0, scale = argc > 4 ? std::atoi(argv[4]) : 2000;
  if (instances < 1 || scale < 4) return 2;
  is_primary = true;
  prepare(argv[1], scale);
  int wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (argc > 3 && std::strcmp(argv[3], all[i].name) != 0 && std::strcmp(argv[3], "all") != 0) continue;
    running = all[i].name;
    is_right = true;
    std::fill(cell, cell + trip, word{0});
    all[i].run(instances);
    std::printf("%s %s\n", all[i].name, is_right ? "right" : "wrong");
    wrong += !is_right;
  }
  if (const char* const file = std::getenv("PATTERNS_CLOCK")) {
    std::FILE* const out = std::fopen(file, "w");
    if (out == nullptr) return 2;
    for (const auto& [name, times] : clocks) {
      std::fprintf(out, "%s", name.c_str());
      for (const auto& [least, most] : times) std::fprintf(out, " %.9f %.9f", least, most);
      std::fprintf(out, "\n");
    }
    std::fclose(out);
  }
  return wrong == 0 ? 0 : 1;
}

/* Monte Carlo programs with one planted fault each, in steps of parallel regions: planted FAULT [--severity N] [--steps N]
 * [--size POINTS] [--no-check]. With severity 0 the fault is taken out: the same answer, and the same work.
 *
 *   imbalance   the first thread has this share of what the others should do, %
 *   straggler   in every fourth step the last thread does its blocks again so many times, as after failed checks
 *   serial      this share of the blocks is computed before the region, %
 *   lock        this share of each block is computed in a critical section, %
 *   reduction   this share of the histogram is summed up by one thread, %
 *   chain       this share of the blocks is computed by tasks of which each depends on the one before, %
 *   input       before the region the first thread waits for an answer that takes so long, us
 */
#include <omp.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "points.h"

enum { blocks = 32, bins = 2048 };

struct plan {
  int severity, steps, is_checked;
  int64_t points;
};

/* The compiler must not know that a block done again gives the same hits. */
static volatile int64_t points_of_block;

static __attribute__((noinline)) int64_t block_hits(int64_t block) { return hits_of_block(block, points_of_block); }

/* Of so many, how many a percentage is. */
static int share_of(int whole, int percent) { return whole * percent / 100; }

static int64_t imbalance(const struct plan* plan, int64_t first) {
  int64_t hits = 0;
#pragma omp parallel reduction(+ : hits)
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int own = blocks / threads, taken = own + share_of(blocks - own, plan->severity);
    const int others = threads > 1 ? threads - 1 : 1;
    const int begin = me == 0 ? 0 : taken + (blocks - taken) * (me - 1) / others;
    const int end = me == 0 ? (threads > 1 ? taken : blocks) : taken + (blocks - taken) * me / others;
    for (int block = begin; block < end; ++block) hits += block_hits(first + block);
  }
  return hits;
}

static int64_t straggler(const struct plan* plan, int64_t first) {
  int64_t hits = 0;
#pragma omp parallel reduction(+ : hits)
  {
    const int is_late = first / blocks % 4 == 3 && omp_get_thread_num() == omp_get_num_threads() - 1;
#pragma omp for schedule(static)
    for (int block = 0; block < blocks; ++block) {
      const int64_t own = block_hits(first + block);
      for (int again = 0; is_late && again < plan->severity; ++again)
        if (block_hits(first + block) != own) abort();
      hits += own;
    }
  }
  return hits;
}

static int64_t serial(const struct plan* plan, int64_t first) {
  const int alone = share_of(blocks, plan->severity);
  int64_t hits = 0;
  for (int block = 0; block < alone; ++block) hits += block_hits(first + block);
#pragma omp parallel for schedule(static) reduction(+ : hits)
  for (int block = alone; block < blocks; ++block) hits += block_hits(first + block);
  return hits;
}

static int64_t lock(const struct plan* plan, int64_t first) {
  int64_t hits = 0;
#pragma omp parallel for schedule(static)
  for (int block = 0; block < blocks; ++block) {
    uint64_t state = seed_of_block(first + block);
    const int64_t all = points_of_block, locked = all * plan->severity / 100;
    const int64_t own = draw_points(&state, all - locked);
#pragma omp critical
    hits += own + draw_points(&state, locked);
  }
  return hits;
}

/* Where points lie, by the first coordinate, and how evenly: the entropy of that histogram. */
static int32_t histograms[blocks][bins];

static void fill_histogram(int64_t block, int32_t* histogram) {
  uint64_t state = seed_of_block(block);
  for (int64_t i = points_of_block; i > 0; --i) {
    draw_points(&state, 1);
    ++histogram[state >> 53];
  }
}

static double entropy_of(int bin) {
  double sum = 0;
  for (int block = 0; block < blocks; ++block) {
    sum += log1p(histograms[block][bin]);
    histograms[block][bin] = 0;
  }
  return sum;
}

static int64_t reduction(const struct plan* plan, int64_t first) {
  const int alone = share_of(bins, plan->severity);
  double entropy[bins];
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int block = 0; block < blocks; ++block) fill_histogram(first + block, histograms[block]);
#pragma omp master
    for (int bin = 0; bin < alone; ++bin) entropy[bin] = entropy_of(bin);
#pragma omp for schedule(static)
    for (int bin = alone; bin < bins; ++bin) entropy[bin] = entropy_of(bin);
  }
  double sum = 0;
  for (int bin = 0; bin < bins; ++bin) sum += entropy[bin];
  return (int64_t)(1024 * sum);
}

static int64_t chain(const struct plan* plan, int64_t first) {
  const int chained = share_of(blocks, plan->severity);
  int64_t own[blocks];
  char link = 0;  // stands for what each task hands to the next one
  (void)link;
#pragma omp parallel
#pragma omp single
  {
    for (int block = 0; block < chained; ++block)
#pragma omp task depend(inout : link) shared(own)
      own[block] = block_hits(first + block);
    for (int block = chained; block < blocks; ++block)
#pragma omp task shared(own)
      own[block] = block_hits(first + block);
  }
  int64_t hits = 0;
  for (int block = 0; block < blocks; ++block) hits += own[block];
  return hits;
}

/* A device: to each question an answer, after so many microseconds. */
static int questions[2], answers[2];

static void* answer_late(void* delay_us) {
  const int us = *(const int*)delay_us;
  const struct timespec delay = {us / 1000000, us % 1000000 * 1000L};
  char question;
  while (read(questions[0], &question, 1) == 1) {
    nanosleep(&delay, NULL);
    if (write(answers[1], &question, 1) != 1) abort();
  }
  return NULL;
}

static void begin_to_answer(const int* delay_us) {
  pthread_t device;
  if (pipe(questions) != 0 || pipe(answers) != 0) abort();
  if (pthread_create(&device, NULL, answer_late, (void*)delay_us) != 0) abort();
  pthread_detach(device);
}

static int64_t input(const struct plan* plan, int64_t first) {
  static int delay_us;
  if (plan->severity > 0 && delay_us == 0) {
    delay_us = plan->severity;
    begin_to_answer(&delay_us);
  }
  char answer = 1;
  if (plan->severity > 0 && (write(questions[1], &answer, 1) != 1 || read(answers[0], &answer, 1) != 1)) abort();
  int64_t hits = 0;
#pragma omp parallel for schedule(static) reduction(+ : hits)
  for (int block = 0; block < blocks; ++block) hits += block_hits(first + block);
  return hits;
}

struct fault {
  const char* name;
  int64_t (*run)(const struct plan*, int64_t first);
  int severity;
};

static const struct fault faults[] = {{"imbalance", imbalance, 60}, {"straggler", straggler, 4},   {"serial", serial, 50},
                                      {"lock", lock, 80},           {"reduction", reduction, 100}, {"input", input, 1000},
                                      {"chain", chain, 100}};

static const struct fault* fault_named(const char* name) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
    if (strcmp(faults[i].name, name) == 0) return &faults[i];
  return NULL;
}

static int64_t all_steps(const struct fault* fault, const struct plan* plan) {
  int64_t answer = 0;
  for (int step = 0; step < plan->steps; ++step) answer += fault->run(plan, (int64_t)step * blocks);
  return answer;
}

static int natural_number(const char* name, const char* text) {
  return text != NULL && strcmp(text, "0") == 0 ? 0 : whole_number("planted", name, text);
}

int main(int argc, char** argv) {
  const struct fault* const fault = argc > 1 ? fault_named(argv[1]) : NULL;
  if (fault == NULL) {
    fprintf(stderr,
            "usage: planted imbalance|straggler|serial|lock|reduction|input|chain [--severity N] [--steps N] "
            "[--size POINTS] [--no-check]\n");
    return 2;
  }
  struct plan plan = {fault->severity, 40, 1, 20000};
  for (int i = 2; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--no-check") == 0) {
      plan.is_checked = 0;
      continue;
    }
    const int value = natural_number(name, i + 1 < argc ? argv[++i] : NULL);
    if (strcmp(name, "--severity") == 0) {
      plan.severity = value;
    } else if (strcmp(name, "--steps") == 0) {
      plan.steps = value;
    } else if (strcmp(name, "--size") == 0) {
      plan.points = value;
    } else {
      fprintf(stderr, "planted: %s: expected --severity, --steps, --size or --no-check\n", name);
      return 2;
    }
  }
  points_of_block = plan.points;
  const double begin = seconds();
  const int64_t answer = all_steps(fault, &plan);
  const double took = seconds() - begin;
  double expected = 0;
  if (plan.is_checked) {
    omp_set_num_threads(1);
    plan.severity = 0;
    expected = (double)all_steps(fault, &plan);
  }
  return conclude("planted", (double)answer, expected, plan.is_checked, took);
}

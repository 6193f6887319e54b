/* Monte Carlo programs with one planted fault of memory each, in steps of parallel regions: planted_memory FAULT [--severity
 * N]
 * [--steps N] [--repaired] [--no-check]. With --repaired the fault is taken out: the same answer, and the same work.
 *
 *   arenas    this share of each block allocates and frees memory, %; all threads share one arena of malloc
 *   returned  each step has an array of so many MB, which goes back to the system at its end
 *   pages     all steps together write an array of so many MB, which lies in small pages
 */
#include <malloc.h>
#include <omp.h>
#include <sys/mman.h>

#include "common.h"
#include "points.h"

enum { blocks = 32, points_of_block = 20000, kept = 16 };

static const size_t megabyte = 1000000, huge_page = 2u << 20;
/* About as long as the points of a block. */
static const int rounds_of_block = 100;

struct plan {
  int severity, steps, is_checked, is_repaired;
};

/* Blocks that no cache of a thread takes. */
static int64_t allocate_and_free(int64_t round) {
  int64_t right = 0;
  char* volatile block[kept]; /* no compiler may leave malloc out */
  for (int i = 0; i < kept; ++i) {
    block[i] = malloc(2000 + (size_t)((round * kept + i) * 7919 % 2000));
    block[i][0] = (char)i;
  }
  for (int i = 0; i < kept; ++i) {
    right += block[i][0] == i;
    free(block[i]);
  }
  return right;
}

static void begin_arenas(const struct plan* plan) {
  if (!plan->is_repaired) mallopt(M_ARENA_MAX, 1);
}

static int64_t arenas(const struct plan* plan, int64_t first) {
  const int rounds = rounds_of_block * plan->severity / 100;
  int64_t answer = 0;
#pragma omp parallel for schedule(static) reduction(+ : answer)
  for (int block = 0; block < blocks; ++block) {
    uint64_t state = seed_of_block(first + block);
    const int64_t all = (int64_t)points_of_block * (100 - plan->severity) / 100;
    for (int round = 0; round < rounds; ++round)
      answer += draw_points(&state, all / rounds) + allocate_and_free(block + round);
  }
  return answer;
}

static void begin_returned(const struct plan* plan) {
  mallopt(M_MMAP_THRESHOLD, plan->is_repaired ? 1 << 30 : 128 << 10);
  if (plan->is_repaired) mallopt(M_TRIM_THRESHOLD, 2000000000);
}

/* Draws the points of a block, and writes its part of the memory. */
static int64_t write_part(int64_t block, int64_t* begin, int64_t* end) {
  const int64_t hits = hits_of_block(block, points_of_block);
  int64_t sum = 0;
  for (int64_t* value = begin; value < end; ++value) *value = hits;
  for (const int64_t* value = begin; value < end; ++value) sum += *value == hits;
  return hits + sum;
}

static int64_t returned(const struct plan* plan, int64_t first) {
  const int64_t part = (int64_t)(plan->severity * megabyte / blocks / sizeof(int64_t));
  int64_t* const values = malloc((size_t)(part * blocks) * sizeof *values);
  if (values == NULL) abort();
  int64_t answer = 0;
#pragma omp parallel for schedule(static) reduction(+ : answer)
  for (int block = 0; block < blocks; ++block)
    answer += write_part(first + block, values + part * block, values + part * (block + 1));
  free(values);
  return answer;
}

static int64_t* pages_of_all_steps;

static void begin_pages(const struct plan* plan) {
  const size_t bytes = (plan->severity * megabyte / huge_page + 1) * huge_page;
  pages_of_all_steps = aligned_alloc(huge_page, bytes);
  if (pages_of_all_steps == NULL) abort();
  madvise(pages_of_all_steps, bytes, plan->is_repaired ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static int64_t pages(const struct plan* plan, int64_t first) {
  const int64_t part = (int64_t)(plan->severity * megabyte / sizeof(int64_t)) / plan->steps / blocks;
  int64_t answer = 0;
#pragma omp parallel for schedule(static) reduction(+ : answer)
  for (int block = 0; block < blocks; ++block) {
    int64_t* const begin = pages_of_all_steps + (first + block) * part;
    answer += write_part(first + block, begin, begin + part);
  }
  return answer;
}

struct fault {
  const char* name;
  void (*begin)(const struct plan*);
  int64_t (*run)(const struct plan*, int64_t first);
  int severity;
};

static const struct fault faults[] = {
    {"arenas", begin_arenas, arenas, 50}, {"returned", begin_returned, returned, 16}, {"pages", begin_pages, pages, 200}};

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

int main(int argc, char** argv) {
  const struct fault* const fault = argc > 1 ? fault_named(argv[1]) : NULL;
  struct plan plan = {fault == NULL ? 0 : fault->severity, 40, 1, 0};
  int is_right = fault != NULL;
  for (int i = 2; i < argc && is_right; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--no-check") == 0) {
      plan.is_checked = 0;
    } else if (strcmp(name, "--repaired") == 0) {
      plan.is_repaired = 1;
    } else if (strcmp(name, "--severity") == 0) {
      plan.severity = whole_number("planted_memory", name, argv[++i]);
    } else if (strcmp(name, "--steps") == 0) {
      plan.steps = whole_number("planted_memory", name, argv[++i]);
    } else {
      is_right = 0;
    }
  }
  if (!is_right) {
    fprintf(stderr, "usage: planted_memory arenas|returned|pages [--severity N] [--steps N] [--repaired] [--no-check]\n");
    return 2;
  }
  fault->begin(&plan);
  const double begin = seconds();
  const int64_t answer = all_steps(fault, &plan);
  const double took = seconds() - begin;
  double expected = 0;
  if (plan.is_checked) {
    omp_set_num_threads(1);
    expected = (double)all_steps(fault, &plan);
  }
  return conclude("planted_memory", (double)answer, expected, plan.is_checked, took);
}

/* What every workload shares: options, a clock, and the comparison with the serial answer. */
#ifndef WORKLOADS_COMMON_H
#define WORKLOADS_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measured.h"

enum how { how_static, how_guided, how_dynamic, how_runtime };

struct options {
  int size;
  int steps;
  enum how how;
  int check;      /* compare with a serial run */
  double measure; /* s that steps are made for and measured, however many that are; 0: steps decide */
};

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int whole_number(const char* program, const char* name, const char* text) {
  char* end;
  const long value = text == NULL ? 0 : strtol(text, &end, 10);
  if (text == NULL || *text == '\0' || *end != '\0' || value < 1 || value > 1000000000) {
    fprintf(stderr, "%s: %s: expected a number from 1 to 1000000000, found '%s'\n", program, name, text == NULL ? "" : text);
    exit(2);
  }
  return (int)value;
}

static struct options read_options(int argc, char** argv, int size, int steps) {
  struct options o = {size, steps, how_static, 1, 0};
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    if (strcmp(name, "--no-check") == 0) {
      o.check = 0;
      continue;
    }
    const char* const value = i + 1 < argc ? argv[++i] : NULL;
    if (strcmp(name, "--size") == 0) {
      o.size = whole_number(argv[0], name, value);
    } else if (strcmp(name, "--steps") == 0) {
      o.steps = whole_number(argv[0], name, value);
    } else if (strcmp(name, "--measure") == 0) {
      o.measure = 1e-3 * whole_number(argv[0], name, value);
    } else if (strcmp(name, "--schedule") == 0 && value != NULL) {
      const char* const names[] = {"static", "guided", "dynamic", "runtime"};
      int found = -1;
      for (int k = 0; k < 4; ++k)
        if (strcmp(value, names[k]) == 0) found = k;
      if (found < 0) {
        fprintf(stderr, "%s: --schedule: expected static, guided, dynamic or runtime, found '%s'\n", argv[0], value);
        exit(2);
      }
      o.how = (enum how)found;
    } else {
      fprintf(stderr,
              "usage: %s [--size N] [--steps N] [--schedule static|guided|dynamic|runtime] [--measure MS] [--no-check]\n",
              argv[0]);
      exit(2);
    }
  }
  return o;
}

/* Whether there is another step after so many. With --measure it tells at the end what one took, and `steps` is how many
 * there were. */
static int another_step(struct options* o, int done) {
  static struct measurements measured;
  if (o->measure == 0) return done < o->steps;
  if (done == 0) return 1;
  if (done == 1) {
    begin_measuring(&measured, o->measure, seconds());
    return 1;
  }
  if (measure_step(&measured, seconds())) return 1;
  o->steps = done;
  print_measurements(&measured);
  return 0;
}

/* One line of answer; exit code 1 when it is not the serial one. */
static int conclude(const char* name, double answer, double serial, int is_checked, double took) {
  const double scale = fabs(serial) > 1 ? fabs(serial) : 1;
  const int is_right = !is_checked || fabs(answer - serial) <= 1e-9 * scale;
  printf("%s: answer %.12g, %s, %.3f s\n", name, answer, !is_checked ? "not checked" : is_right ? "right" : "WRONG", took);
  return is_right ? 0 : 1;
}

/* The same loop body under each schedule clause, so that the compiler emits each kind of loop. */
#define PRAGMA(text) _Pragma(#text)
#define SCHEDULED_LOOP(how, clauses, variable, count, body)        \
  switch (how) {                                                   \
    case how_static:                                               \
      PRAGMA(omp parallel for schedule(static) clauses)            \
      for (int variable = 0; variable < (count); ++variable) body; \
      break;                                                       \
    case how_guided:                                               \
      PRAGMA(omp parallel for schedule(guided) clauses)            \
      for (int variable = 0; variable < (count); ++variable) body; \
      break;                                                       \
    case how_dynamic:                                              \
      PRAGMA(omp parallel for schedule(dynamic, 8) clauses)        \
      for (int variable = 0; variable < (count); ++variable) body; \
      break;                                                       \
    default:                                                       \
      PRAGMA(omp parallel for schedule(runtime) clauses)           \
      for (int variable = 0; variable < (count); ++variable) body; \
  }

#endif

/* switches COUNT WORK_NS PAIRS: in each pair, two threads on one CPU hand a turn to each other, COUNT times in all, and
 * compute for WORK_NS nanoseconds before they do. Pair P is on the P-th CPU that the program may use. Prints seconds, and
 * switches a second. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most_pairs = 64 };

struct side {
  pthread_t thread;
  sem_t *own, *other;
  long count, rounds;
  int cpu;
};

static long work_rounds;
static volatile double sink;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(long rounds) {
  double value = 0.5;
  for (long i = 0; i < rounds; ++i) value = value * 0.999999 + 1e-6;
  sink = value;
}

static void* take_turns(void* given) {
  const struct side* const own = given;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(own->cpu, &only);
  pthread_setaffinity_np(pthread_self(), sizeof only, &only);
  for (long i = 0; i < own->count; ++i) {
    sem_wait(own->own);
    compute(work_rounds);
    sem_post(own->other);
  }
  return NULL;
}

int main(int count, char** words) {
  if (count != 4) {
    fputs("usage: switches COUNT WORK_NS PAIRS\n", stderr);
    return 2;
  }
  const long turns = atol(words[1]);
  const double work_ns = atof(words[2]);
  const int pairs = atoi(words[3]) < most_pairs ? atoi(words[3]) : most_pairs;
  /* Computed rounds are the same work at every level; a time that is waited for would hide what slows the program down. */
  const long probe = 20000000;
  double began = seconds();
  compute(probe);
  work_rounds = (long)(work_ns * 1e-9 * (double)probe / (seconds() - began));
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  static struct side sides[2 * most_pairs];
  static sem_t turns_of[2 * most_pairs];
  int cpu = -1;
  for (int pair = 0; pair < pairs; ++pair) {
    do cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(cpu, &allowed));
    for (int side = 0; side < 2; ++side) {
      sem_init(&turns_of[2 * pair + side], 0, side == 0);
      sides[2 * pair + side] =
          (struct side){0, &turns_of[2 * pair + side], &turns_of[2 * pair + 1 - side], turns / 2, 0, cpu};
    }
  }
  began = seconds();
  for (int i = 0; i < 2 * pairs; ++i) pthread_create(&sides[i].thread, NULL, take_turns, &sides[i]);
  for (int i = 0; i < 2 * pairs; ++i) pthread_join(sides[i].thread, NULL);
  const double took = seconds() - began;
  printf("%.6f %.0f\n", took, (double)turns * pairs / took);
  return 0;
}

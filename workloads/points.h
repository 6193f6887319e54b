/* The work of the programs with planted faults: points drawn in the unit square, counted where they lie in the quarter
 * circle (pi by Monte Carlo). Blocks have their own seeds, so the answer does not depend on who computes what, or in which
 * order. C and C++. */
#ifndef WORKLOADS_POINTS_H
#define WORKLOADS_POINTS_H

#include <stdint.h>

static inline uint64_t seed_of_block(int64_t block) {
  uint64_t seed = (uint64_t)block * 0x9e3779b97f4a7c15u + 0xbf58476d1ce4e5b9u;
  seed ^= seed >> 31;
  return seed * 0x94d049bb133111ebu | 1u;
}

/* Draws points and counts those in the circle; `state` goes on where it was left. */
static inline int64_t draw_points(uint64_t* state, int64_t points) {
  int64_t hits = 0;
  for (int64_t i = 0; i < points; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(*state >> 40) * 0x1p-24;
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double y = (double)(*state >> 40) * 0x1p-24;
    hits += x * x + y * y < 1.0;
  }
  return hits;
}

static inline int64_t hits_of_block(int64_t block, int64_t points) {
  uint64_t state = seed_of_block(block);
  return draw_points(&state, points);
}

#endif

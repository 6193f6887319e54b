/* Particles in boxes (after Rodinia's lavaMD): each box interacts with its 27 neighbours; every box costs nearly
 * the same, so there is little imbalance. --size is the number of boxes along an edge. */
#include "common.h"

enum { particles = 24 };

static double box_energy(const double* at, int box, int n) {
  const int bx = box % n, by = box / n % n, bz = box / n / n;
  double energy = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int x = bx + dx, y = by + dy, z = bz + dz;
        if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) continue;
        const int other = (z * n + y) * n + x;
        for (int i = 0; i < particles; ++i)
          for (int k = 0; k < particles; ++k) {
            double square = 1e-3;
            for (int d = 0; d < 3; ++d) {
              const double gap = at[(box * particles + i) * 3 + d] - at[(other * particles + k) * 3 + d];
              square += gap * gap;
            }
            energy += exp(-square);
          }
      }
  return energy;
}

int main(int argc, char** argv) {
  struct options o = read_options(argc, argv, 8, 2);
  const int boxes = o.size * o.size * o.size;
  double* const at = malloc(sizeof *at * (size_t)boxes * particles * 3);
  double* const energy = malloc(sizeof *energy * (size_t)boxes);
  if (at == NULL || energy == NULL) return 2;
  unsigned state = 12345;
  for (int i = 0; i < boxes * particles * 3; ++i) {
    state = state * 1664525u + 1013904223u;
    at[i] = (double)(state >> 8) / (1 << 24);
  }
  const double began = seconds();
  for (int step = 0; another_step(&o, step); ++step) {
    SCHEDULED_LOOP(o.how, , box, boxes, { energy[box] = box_energy(at, box, o.size); })
  }
  const double took = seconds() - began;
  double answer = 0, serial = 0;
  for (int box = 0; box < boxes; ++box) answer += energy[box];
  if (o.check)
    for (int box = 0; box < boxes; ++box) serial += box_energy(at, box, o.size);
  free(at);
  free(energy);
  return conclude("lavamd", answer, serial, o.check, took);
}

/* Particles in boxes, with the parameters of Rodinia's lavaMD: each box of particles interacts with its up to 26 neighbours
 * and with itself by a potential exp(-a2 * distance^2). One loop over all boxes; all but those at the surface cost the same:
 * little imbalance. */
#include "parameters.h"

static const double a2 = 0.5; /* 2 * alpha^2, alpha = 0.5 */

struct particle {
  double x, y, z, charge;
};

struct force {
  double potential, x, y, z;
};

struct space {
  int edge;      /* boxes along an edge */
  int particles; /* in each box */
  struct particle* particle;
};

static void add_box(const struct space* space, int home, int other, struct force* forces) {
  const struct particle* const at_home = space->particle + (size_t)home * (size_t)space->particles;
  const struct particle* const at_other = space->particle + (size_t)other * (size_t)space->particles;
  for (int i = 0; i < space->particles; ++i) {
    const struct particle me = at_home[i];
    struct force sum = forces[i];
    for (int k = 0; k < space->particles; ++k) {
      const double dx = me.x - at_other[k].x, dy = me.y - at_other[k].y, dz = me.z - at_other[k].z;
      const double part = at_other[k].charge * exp(-a2 * (dx * dx + dy * dy + dz * dz));
      sum.potential += part;
      sum.x += 2 * part * dx;
      sum.y += 2 * part * dy;
      sum.z += 2 * part * dz;
    }
    forces[i] = sum;
  }
}

static void box_forces(const struct space* space, int box, struct force* all) {
  const int edge = space->edge;
  struct force* const forces = all + (size_t)box * (size_t)space->particles;
  memset(forces, 0, sizeof *forces * (size_t)space->particles);
  const int x = box % edge, y = box / edge % edge, z = box / edge / edge;
  for (int nz = z - 1; nz <= z + 1; ++nz)
    for (int ny = y - 1; ny <= y + 1; ++ny)
      for (int nx = x - 1; nx <= x + 1; ++nx)
        if (nx >= 0 && ny >= 0 && nz >= 0 && nx < edge && ny < edge && nz < edge)
          add_box(space, box, (nz * edge + ny) * edge + nx, forces);
}

static void fill(struct space* space, int boxes) {
  const int edge = space->edge;
  for (int box = 0; box < boxes; ++box)
    for (int i = 0; i < space->particles; ++i) {
      const unsigned at = (unsigned)(box * space->particles + i);
      space->particle[at].x = box % edge + random_share(4 * at);
      space->particle[at].y = box / edge % edge + random_share(4 * at + 1);
      space->particle[at].z = box / edge / edge + random_share(4 * at + 2);
      space->particle[at].charge = random_share(4 * at + 3);
    }
}

static double total(const struct force* forces, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += forces[i].potential + fabs(forces[i].x) + fabs(forces[i].y) + fabs(forces[i].z);
  return sum;
}

int main(int argc, char** argv) {
  struct parameter parameters[] = {{"boxes1d", {40, 8}, 1000}, {"particles", {100, 100}, 1000}};
  struct study_program program = {
      .name = "lavamd", .parameters = parameters, .count = 2, .recorded = {5118952424.67, 38462319.284}};
  read_parameters(&program, argc, argv);
  struct space space = {whole_parameter(&program, 0), whole_parameter(&program, 1), NULL};
  const int boxes = space.edge * space.edge * space.edge;
  const size_t count = (size_t)boxes * (size_t)space.particles;
  space.particle = memory_for(count, sizeof *space.particle);
  struct force* const forces = memory_for(count, sizeof *forces);
  fill(&space, boxes);
  const double began = seconds();
#pragma omp parallel for schedule(runtime)
  for (int box = 0; box < boxes; ++box) box_forces(&space, box, forces);
  const double took = seconds() - began;
  const double answer = total(forces, count);
  double serial = 0;
  if (program.check == check_serial) {
    for (int box = 0; box < boxes; ++box) box_forces(&space, box, forces);
    serial = total(forces, count);
  }
  free(space.particle);
  free(forces);
  printf("iterations=%d\n", boxes);
  return conclude_study(&program, answer, serial, took);
}

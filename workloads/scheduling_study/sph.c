/* Smoothed-particle hydrodynamics in three dimensions: in each step density, then momentum, then a move, each a loop over
 * all particles. Neighbours are found in cells that are as wide as the kernel reaches. Particles are denser near the centre,
 * where each has more neighbours: moderate imbalance. */
#include "parameters.h"

static const double pi = 3.14159265358979323846;
/* The reach of the kernel, in mean distances between particles: some 60 neighbours. */
static const double reach_in_distances = 2.4;
/* An isothermal gas: pressure = sound_speed^2 * density. */
static const double sound_speed = 1, viscosity = 1;

struct vector {
  double x, y, z;
};

struct gas {
  int count;
  double mass, smoothing; /* the kernel reaches twice the smoothing length */
  struct vector *at, *velocity, *acceleration;
  double* density;
  int cells; /* along an edge */
  double cell_width;
  int *cell_start, *in_cell; /* the particles of cell c: in_cell[cell_start[c]] to in_cell[cell_start[c + 1] - 1] */
};

/* The cubic spline (Monaghan and Lattanzio 1985), and its derivative divided by the distance. */
static double kernel(double distance, double h) {
  const double q = distance / h, scale = 1 / (pi * h * h * h);
  if (q >= 2) return 0;
  return q < 1 ? scale * (1 - 1.5 * q * q + 0.75 * q * q * q) : scale * 0.25 * (2 - q) * (2 - q) * (2 - q);
}

static double kernel_slope(double distance, double h) {
  const double q = distance / h, scale = 1 / (pi * h * h * h * h * h);
  if (q >= 2) return 0;
  return q < 1 ? scale * (2.25 * q - 3) : -scale * 0.75 * (2 - q) * (2 - q) / q;
}

static int cell_along(const struct gas* gas, double at) {
  const int cell = (int)((at + 1) / gas->cell_width);
  return cell < 0 ? 0 : cell >= gas->cells ? gas->cells - 1 : cell;
}

static int cell_of(const struct gas* gas, struct vector at) {
  return (cell_along(gas, at.z) * gas->cells + cell_along(gas, at.y)) * gas->cells + cell_along(gas, at.x);
}

/* Sorts the particles into cells: counts them, adds the counts up, and puts each at its place. In order of their numbers. */
static void fill_cells(struct gas* gas) {
  const int cells = gas->cells * gas->cells * gas->cells;
  memset(gas->cell_start, 0, sizeof *gas->cell_start * (size_t)(cells + 2));
  for (int i = 0; i < gas->count; ++i) ++gas->cell_start[cell_of(gas, gas->at[i]) + 2];
  for (int c = 2; c < cells + 2; ++c) gas->cell_start[c] += gas->cell_start[c - 1];
  for (int i = 0; i < gas->count; ++i) gas->in_cell[gas->cell_start[cell_of(gas, gas->at[i]) + 1]++] = i;
}

/* What the pair of particles i and k adds to the sum of i. */
struct pair {
  int i, k;
  struct vector apart; /* from k to i */
  double square;       /* of their distance */
};
typedef void add_pair(const struct gas*, struct pair, struct vector*);

/* Inlined, so that a call for each pair does not cost more than the pair. */
static inline __attribute__((always_inline)) struct vector sum_over_neighbours(const struct gas* gas, int i, add_pair* add) {
  struct vector sum = {0, 0, 0};
  const struct vector me = gas->at[i];
  const int x = cell_along(gas, me.x), y = cell_along(gas, me.y), z = cell_along(gas, me.z), last = gas->cells - 1;
  const int x_first = x > 0 ? x - 1 : 0, x_last = x < last ? x + 1 : last;
  for (int cz = z > 0 ? z - 1 : 0; cz <= (z < last ? z + 1 : last); ++cz)
    for (int cy = y > 0 ? y - 1 : 0; cy <= (y < last ? y + 1 : last); ++cy) {
      const int* const row = gas->cell_start + (cz * gas->cells + cy) * gas->cells;
      for (int entry = row[x_first]; entry < row[x_last + 1]; ++entry) {
        const int k = gas->in_cell[entry];
        const struct vector apart = {me.x - gas->at[k].x, me.y - gas->at[k].y, me.z - gas->at[k].z};
        const double square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
        if (square < 4 * gas->smoothing * gas->smoothing) add(gas, (struct pair){i, k, apart, square}, &sum);
      }
    }
  return sum;
}

static inline void add_density(const struct gas* gas, struct pair pair, struct vector* sum) {
  sum->x += gas->mass * kernel(sqrt(pair.square), gas->smoothing);
}

static void set_density(struct gas* gas, int i) { gas->density[i] = sum_over_neighbours(gas, i, add_density).x; }

/* Pressure, and the artificial viscosity of Monaghan (1992) between particles that approach each other. */
static inline void add_acceleration(const struct gas* gas, struct pair pair, struct vector* sum) {
  if (pair.k == pair.i) return;
  const struct vector *const u = &gas->velocity[pair.i], *const v = &gas->velocity[pair.k], apart = pair.apart;
  const double h = gas->smoothing, density = gas->density[pair.i], other_density = gas->density[pair.k];
  const double approach = (u->x - v->x) * apart.x + (u->y - v->y) * apart.y + (u->z - v->z) * apart.z;
  const double mu = approach < 0 ? h * approach / (pair.square + 0.01 * h * h) : 0;
  const double damping = (-viscosity * sound_speed * mu + 2 * viscosity * mu * mu) / (0.5 * (density + other_density));
  const double pressure = sound_speed * sound_speed * (1 / density + 1 / other_density);
  const double strength = -gas->mass * (pressure + damping) * kernel_slope(sqrt(pair.square), h);
  sum->x += strength * apart.x;
  sum->y += strength * apart.y;
  sum->z += strength * apart.z;
}

static void set_acceleration(struct gas* gas, int i) {
  gas->acceleration[i] = sum_over_neighbours(gas, i, add_acceleration);
}

static void move(struct gas* gas, int i) {
  const double step = 0.1 * gas->smoothing / sound_speed;
  struct vector* const v = &gas->velocity[i];
  v->x += step * gas->acceleration[i].x;
  v->y += step * gas->acceleration[i].y;
  v->z += step * gas->acceleration[i].z;
  gas->at[i].x += step * v->x;
  gas->at[i].y += step * v->y;
  gas->at[i].z += step * v->z;
}

/* A lattice with some disorder, drawn towards the centre: six times as dense there as at the surface. */
static void start(struct gas* gas) {
  const int edge = (int)ceil(cbrt(gas->count) - 1e-9);
  for (int i = 0; i < gas->count; ++i) {
    const unsigned at = (unsigned)i;
    const double x = 2 * (i % edge + 0.3 + 0.4 * random_share(3 * at)) / edge - 1;
    const double y = 2 * (i / edge % edge + 0.3 + 0.4 * random_share(3 * at + 1)) / edge - 1;
    const double z = 2 * (i / edge / edge + 0.3 + 0.4 * random_share(3 * at + 2)) / edge - 1;
    const double pull = 0.6 + 0.4 * fmax(fabs(x), fmax(fabs(y), fabs(z)));
    gas->at[i] = (struct vector){pull * x, pull * y, pull * z};
    gas->velocity[i] = (struct vector){0, 0, 0};
  }
}

static double total(const struct gas* gas) {
  double sum = 0;
  for (int i = 0; i < gas->count; ++i) {
    const struct vector a = gas->acceleration[i], at = gas->at[i];
    sum += gas->density[i] + fabs(a.x) + fabs(a.y) + fabs(a.z) + fabs(at.x) + fabs(at.y) + fabs(at.z);
  }
  return sum;
}

static void parallel_step(struct gas* gas) {
  fill_cells(gas);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < gas->count; ++i) set_density(gas, i);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < gas->count; ++i) set_acceleration(gas, i);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < gas->count; ++i) move(gas, i);
}

static void serial_step(struct gas* gas) {
  fill_cells(gas);
  for (int i = 0; i < gas->count; ++i) set_density(gas, i);
  for (int i = 0; i < gas->count; ++i) set_acceleration(gas, i);
  for (int i = 0; i < gas->count; ++i) move(gas, i);
}

static struct gas gas_of(int count) {
  const double distance = 2 / cbrt(count), reach = reach_in_distances * distance;
  const int along = (int)(2 / reach), cells = along < 1 ? 1 : along;
  const size_t n = (size_t)count, all_cells = (size_t)cells * (size_t)cells * (size_t)cells;
  struct gas gas = {.count = count, .mass = 8.0 / count, .smoothing = reach / 2, .cells = cells, .cell_width = 2.0 / cells};
  gas.at = memory_for(n, sizeof *gas.at);
  gas.velocity = memory_for(n, sizeof *gas.velocity);
  gas.acceleration = memory_for(n, sizeof *gas.acceleration);
  gas.density = memory_for(n, sizeof *gas.density);
  gas.cell_start = memory_for(all_cells + 2, sizeof *gas.cell_start);
  gas.in_cell = memory_for(n, sizeof *gas.in_cell);
  return gas;
}

int main(int argc, char** argv) {
  struct parameter parameters[] = {{"particles", {1000000, 100000}, 1e8}, {"steps", {2, 2}, 1e9}};
  struct study_program program = {
      .name = "sph", .parameters = parameters, .count = 2, .recorded = {18317085.7185, 1099429.20256}};
  read_parameters(&program, argc, argv);
  struct gas gas = gas_of(whole_parameter(&program, 0));
  const int steps = whole_parameter(&program, 1);
  start(&gas);
  const double began = seconds();
  for (int step = 0; step < steps; ++step) parallel_step(&gas);
  const double took = seconds() - began;
  const double answer = total(&gas);
  double serial = 0;
  if (program.check == check_serial) {
    start(&gas);
    for (int step = 0; step < steps; ++step) serial_step(&gas);
    serial = total(&gas);
  }
  free(gas.at);
  free(gas.velocity);
  free(gas.acceleration);
  free(gas.density);
  free(gas.cell_start);
  free(gas.in_cell);
  printf("iterations=%d steps=%d\n", gas.count, steps);
  return conclude_study(&program, answer, serial, took);
}

/* Heat in a chip of a few layers, with the parameters of Rodinia's hotspot3D (512 8 100): each cell exchanges heat with its
 * six neighbours, gets the power of the circuit there, and loses heat to the air. The parallel loop runs over the layers:
 * with 8 layers, all threads but 8 are idle. */
#include "parameters.h"

/* Of silicon, in SI units. */
static const float chip_edge = 0.016F, chip_thickness = 0.0005F, conductivity = 100, heat_capacity = 1.75e6F;
static const float air = 80, largest_power_density = 3e6F, capacity_share = 0.5F;

struct grid {
  int edge, layers;
  float along, across, outwards,
      per_power; /* of one step: heat to a neighbour in a layer, to the next layer, to the air; by power */
  float* power;
};

static void set_up(struct grid* grid) {
  const float width = chip_edge / (float)grid->edge, height = chip_thickness / (float)grid->layers;
  const float capacity = capacity_share * heat_capacity * width * width * height;
  const float step = 0.001F / (largest_power_density / (capacity_share * chip_thickness * heat_capacity));
  grid->along = step / capacity * conductivity * height;
  grid->across = step / capacity * conductivity * width * width / height;
  grid->outwards = grid->across;
  grid->per_power = step / capacity;
}

static void layer_step(const struct grid* grid, const float* from, float* to, int z) {
  const int n = grid->edge;
  const size_t plane = (size_t)n * (size_t)n;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const size_t at = (size_t)z * plane + (size_t)y * (size_t)n + (size_t)x;
      const float here = from[at];
      const float west = x > 0 ? from[at - 1] : here, east = x + 1 < n ? from[at + 1] : here;
      const float north = y > 0 ? from[at - (size_t)n] : here, south = y + 1 < n ? from[at + (size_t)n] : here;
      const float below = z > 0 ? from[at - plane] : here, above = z + 1 < grid->layers ? from[at + plane] : here;
      to[at] = here + grid->along * (west + east + north + south - 4 * here) + grid->across * (below + above - 2 * here) +
               grid->outwards * (air - here) + grid->per_power * grid->power[at];
    }
}

static void start(float* heat, size_t count) {
  for (size_t i = 0; i < count; ++i) heat[i] = 320 + 10 * (float)random_share((unsigned)i);
}

static double total(const float* heat, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += heat[i];
  return sum;
}

int main(int argc, char** argv) {
  struct parameter parameters[] = {{"edge", {512, 256}, 30000}, {"layers", {8, 8}, 1000}, {"steps", {100, 100}, 1e9}};
  struct study_program program = {
      .name = "hotspot3d", .parameters = parameters, .count = 3, .recorded = {502817272.297, 125703123.572}};
  read_parameters(&program, argc, argv);
  struct grid grid = {whole_parameter(&program, 0), whole_parameter(&program, 1), 0, 0, 0, 0, NULL};
  const int steps = whole_parameter(&program, 2);
  const size_t count = (size_t)grid.layers * (size_t)grid.edge * (size_t)grid.edge;
  float* heat = memory_for(count, sizeof *heat);
  float* next = memory_for(count, sizeof *next);
  grid.power = memory_for(count, sizeof *grid.power);
  set_up(&grid);
  for (size_t i = 0; i < count; ++i) grid.power[i] = 1e-5F * (float)random_share((unsigned)(i + count));
  double answers[2] = {0, 0};
  double took = 0;
  for (int is_serial = 0; is_serial < 1 + (program.check == check_serial); ++is_serial) {
    start(heat, count);
    const double began = seconds();
    for (int step = 0; step < steps; ++step) {
      if (is_serial) {
        for (int z = 0; z < grid.layers; ++z) layer_step(&grid, heat, next, z);
      } else {
#pragma omp parallel for schedule(runtime)
        for (int z = 0; z < grid.layers; ++z) layer_step(&grid, heat, next, z);
      }
      float* const swap = heat;
      heat = next;
      next = swap;
    }
    if (!is_serial) took = seconds() - began;
    answers[is_serial] = total(heat, count);
  }
  free(heat);
  free(next);
  free(grid.power);
  printf("iterations=%d steps=%d\n", grid.layers, steps);
  return conclude_study(&program, answers[0], answers[1], took);
}

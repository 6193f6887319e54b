/* Mandelbrot over pixels, with the parameters of the scheduling study (10000 512 0 0 0.5): the image is one loop over all
 * pixels. Pixels in the set cost the limit of iterations, others few: high imbalance. Three such loops in each time step:
 * with the whole limit, with a limit that grows over the steps, and with one that falls. */
#include "parameters.h"

struct image {
  int pixels; /* along an edge */
  double x, y, zoom;
};

static int escape_count(const struct image* image, int pixel, int limit) {
  /* A zoom of 0.5 shows the square from -2 to 2, where all of the set is. */
  const double width = 2 / image->zoom / image->pixels;
  const double re = image->x - 1 / image->zoom + width * (pixel % image->pixels + 0.5);
  const double im = image->y - 1 / image->zoom + width * (pixel / image->pixels + 0.5);
  double a = 0, b = 0;
  int n = 0;
  for (; n < limit && a * a + b * b < 4; ++n) {
    const double next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
  }
  return n;
}

static int limit_of(int loop, int step, int steps, int limit) {
  const double share = loop == 0 ? 1 : loop == 1 ? (step + 1.0) / steps : (double)(steps - step) / steps;
  return (int)(share * limit);
}

static double total(const int* counts, int pixels) {
  long long sum = 0;
  for (int i = 0; i < pixels; ++i) sum += counts[i];
  return (double)sum;
}

int main(int argc, char** argv) {
  struct parameter parameters[] = {
      {"limit", {10000, 1000}, 1e9}, {"pixels", {512, 256}, 30000}, {"x", {0, 0}, 0}, {"y", {0, 0}, 0},
      {"zoom", {0.5, 0.5}, 0},       {"steps", {200, 10}, 1e9}};
  struct study_program program = {
      .name = "mandelbrot", .parameters = parameters, .count = 6, .recorded = {99662009668, 136697320}};
  read_parameters(&program, argc, argv);
  const int limit = whole_parameter(&program, 0), steps = whole_parameter(&program, 5);
  const struct image image = {whole_parameter(&program, 1), parameter_value(&program, 2), parameter_value(&program, 3),
                              parameter_value(&program, 4)};
  if (!(image.zoom > 0)) study_usage(&program, "--zoom");
  const int pixels = image.pixels * image.pixels;
  int* const counts = memory_for((size_t)pixels, sizeof *counts);
  double answers[2] = {0, 0};
  double took = 0;
  for (int is_serial = 0; is_serial < 1 + (program.check == check_serial); ++is_serial) {
    const double began = seconds();
    for (int step = 0; step < steps; ++step)
      for (int loop = 0; loop < 3; ++loop) {
        const int most = limit_of(loop, step, steps, limit);
        if (is_serial) {
          for (int i = 0; i < pixels; ++i) counts[i] = escape_count(&image, i, most);
        } else {
#pragma omp parallel for schedule(runtime)
          for (int i = 0; i < pixels; ++i) counts[i] = escape_count(&image, i, most);
        }
        answers[is_serial] += total(counts, pixels);
      }
    if (!is_serial) took = seconds() - began;
  }
  free(counts);
  printf("iterations=%d steps=%d\n", pixels, steps);
  return conclude_study(&program, answers[0], answers[1], took);
}
